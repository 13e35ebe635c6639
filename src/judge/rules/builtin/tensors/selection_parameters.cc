#include "judge/rules/builtin/tensors/selection_parameters.h"

#include <iterator>

#include <fmt/format.h>

namespace trainwarden::rules {

std::vector<RuleParameter> with_selection(std::vector<RuleParameter> own, std::string_view when_neither) {
  const std::string_view neither = when_neither.empty() ? "one of the two must be given" : when_neither;
  std::vector<RuleParameter> all = {
      {"collection_names", "", "collections whose tensors are judged, separated by commas"},
      {"tensor_regex", "", fmt::format("patterns of tensors that are judged too; {}", neither)}};
  all.insert(all.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return all;
}

TensorSelection read_selection(ParameterReader& read) {
  TensorSelection selection;
  selection.collections = read.list("collection_names");
  selection.patterns = read.patterns("tensor_regex");
  return selection;
}

Status check_chosen(const TensorSelection& selection, std::string_view example) {
  if (!selection.collections.empty() || !selection.patterns.empty()) return {};
  return Status(
      Code::kInvalidArgument,
      fmt::format("no tensor is chosen: give collection_names (as in collection_names={}) or tensor_regex", example));
}

}  // namespace trainwarden::rules
