// ExplodingTensor: a value that is no longer a finite number.
//
// Source: the documented rule of SageMaker Debugger: NaN and infinities in the inspected tensors, with only_nan only
// NaN; the inspected set is the union of collections and patterns, and every tensor when neither is given. Ours: it
// counts from saved statistics as well as from values and scalars, and reports each tensor with its count.
#include <algorithm>

#include <fmt/format.h>

#include "rules/builtin/builtin_rules.h"
#include "rules/parameters.h"
#include "rules/step_statistics.h"

namespace trainwarden::rules {
namespace {

constexpr const char* kAdvice =
    "Look at the steps before this one for the first tensor that grew; try a lower learning rate, gradient clipping, "
    "or "
    "a wider number type where it overflowed.";

class ExplodingTensor final : public Rule {
 public:
  ExplodingTensor(TensorSelection selection, bool only_nan) : selection_(std::move(selection)), only_nan_(only_nan) {}

  Verdict evaluate(const StepWindow& window) override {
    const StepStatistics read = read_statistics(selection_, window);
    if (auto verdict = nothing_to_judge(read, "tensor", window)) return *std::move(verdict);
    std::vector<Evidence> exploded;
    for (const TensorStatistics& tensor : read.tensors) add_counts(tensor, window, exploded);
    if (exploded.empty()) return Verdict::ok();
    std::stable_sort(exploded.begin(), exploded.end(), is_worse);
    std::string text = message(exploded, read.tensors.size(), window);
    return fired(std::move(text), kAdvice, std::move(exploded), Severity::kError);
  }

 private:
  // One piece of evidence a tensor: NaN weighs more than infinities.
  void add_counts(const TensorStatistics& tensor, const StepWindow& window, std::vector<Evidence>& exploded) const {
    const bool nan = tensor.statistics.nan_count > 0;
    const std::uint64_t count = nan ? tensor.statistics.nan_count : tensor.statistics.inf_count();
    if (count == 0 || (only_nan_ && !nan)) return;
    exploded.push_back({tensor.tensor, tensor.worker, nan ? "nan_count" : "inf_count", static_cast<double>(count), 0,
                        window.global_step()});
  }

  static bool is_worse(const Evidence& a, const Evidence& b) {
    if (a.quantity != b.quantity) return a.quantity == "nan_count";
    return a.value > b.value;
  }

  static std::string message(const std::vector<Evidence>& exploded, std::size_t judged, const StepWindow& window) {
    const Evidence& worst = exploded.front();
    return fmt::format("{} of {} tensors hold values that are not finite at {}: \"{}\" has {} {}.", exploded.size(),
                       judged, describe_step(window), worst.tensor, worst.value,
                       worst.quantity == "nan_count" ? "NaN" : "infinities");
  }

  const TensorSelection selection_;
  const bool only_nan_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection;
  selection.collections = read.list("collection_names");
  selection.patterns = read.patterns("tensor_regex");
  selection.all = selection.collections.empty() && selection.patterns.empty();
  const bool only_nan = read.boolean("only_nan");
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new ExplodingTensor(std::move(selection), only_nan));
}

}  // namespace

RuleKind exploding_tensor() {
  return {{"ExplodingTensor",
           "Fires when a tensor holds a NaN or an infinity.",
           {{"collection_names", "", "collections whose tensors are judged, separated by commas"},
            {"tensor_regex", "", "patterns of tensors that are judged too; all tensors when neither is given"},
            {"only_nan", "False", "True: infinities are fine"}}},
          create};
}

}  // namespace trainwarden::rules
