#include "read/transfer/record_choice.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/regex.h"
#include "core/base/text.h"
#include "data/format/json.h"

namespace trainwarden::transfer {

RecordChoice::RecordChoice(const ExportChoice& choice)
    : choice_(choice), all_tensors_(choice.include.empty() && choice.collection.empty()) {}

Result<RecordChoice> RecordChoice::compile(const ExportChoice& choice) {
  TRAINWARDEN_RETURN_IF_ERROR(RegexSet::compile(choice.include).status());
  return RecordChoice(choice);
}

Status RecordChoice::update(const Trial& trial) {
  const std::vector<std::string> workers = trial.workers();
  for (const std::string& wanted : choice_.workers) {
    if (std::find(workers.begin(), workers.end(), wanted) != workers.end()) continue;
    return Status(Code::kNotFound, fmt::format("no worker \"{}\" in {}{}", printable(wanted), trial.path().string(),
                                               did_you_mean(wanted, workers)));
  }
  if (all_tensors_) return {};
  const TensorQuery query{.include = choice_.include, .collection = choice_.collection};
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> names, trial.tensor_names(query));
  tensors_.insert(names.begin(), names.end());
  return {};
}

bool RecordChoice::wants_worker(std::string_view worker) const {
  const auto& workers = choice_.workers;
  return workers.empty() || std::find(workers.begin(), workers.end(), worker) != workers.end();
}

bool RecordChoice::wants_step(std::int64_t global_step, Mode mode, std::int64_t mode_step) const {
  const auto& modes = choice_.modes;
  const bool by_global_step = modes.empty() || std::find(modes.begin(), modes.end(), Mode::kGlobal) != modes.end();
  if (!by_global_step && std::find(modes.begin(), modes.end(), mode) == modes.end()) return false;
  const std::int64_t step = by_global_step ? global_step : mode_step;
  return choice_.steps.empty() || std::any_of(choice_.steps.begin(), choice_.steps.end(),
                                              [&](const StepRange& range) { return range.holds(step); });
}

std::string describe(const ExportChoice& choice) {
  format::OrderedJson modes = format::OrderedJson::array();
  for (const Mode mode : choice.modes) modes.push_back(name(mode));
  format::OrderedJson steps = format::OrderedJson::array();
  for (const StepRange& range : choice.steps) {
    format::OrderedJson end = range.end ? format::OrderedJson(*range.end) : format::OrderedJson();
    steps.push_back({range.first, std::move(end), range.every});
  }
  return format::dump_json({{"include", choice.include},
                            {"collection", choice.collection},
                            {"modes", std::move(modes)},
                            {"steps", std::move(steps)},
                            {"workers", choice.workers}});
}

}  // namespace trainwarden::transfer
