#include "rules/step_statistics.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "rules/step_place.h"

namespace trainwarden::rules {
namespace {

// Adds the names that answer the query. An unknown collection has none.
void add_names(const StepWindow& window, TensorQuery query, std::vector<std::string>& names, Status& damage) {
  query.step = window.global_step();
  auto found = window.trial().tensor_names(query);
  if (found.ok()) {
    names.insert(names.end(), std::make_move_iterator(found->begin()), std::make_move_iterator(found->end()));
  } else if (found.status().code() != Code::kNotFound) {
    damage = found.status();
  }
}

std::vector<std::string> select(const TensorSelection& selection, const StepWindow& window, Status& damage) {
  std::vector<std::string> names;
  if (selection.all) add_names(window, {}, names, damage);
  for (const std::string& collection : selection.collections) {
    add_names(window, {.collection = collection}, names, damage);
  }
  if (!selection.patterns.empty()) add_names(window, {.include = selection.patterns}, names, damage);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Of a tensor that was read, or not.
void note(Status status, JudgingGaps& gaps) {
  const bool unfit = status.code() == Code::kOutOfRange || status.code() == Code::kInvalidArgument;
  Status& first = unfit ? gaps.first_unfit : gaps.first_damage;
  if (!status.ok() && first.ok()) first = std::move(status);
}

}  // namespace

JudgingGaps visit_tensors(const TensorSelection& selection, const StepWindow& window, const TensorVisitor& visit) {
  const Trial& trial = window.trial();
  const bool many_workers = trial.world_size() > 1;
  JudgingGaps gaps;
  for (const std::string& tensor : select(selection, window, gaps.first_damage)) {
    for (const std::string& worker : trial.workers_of(tensor, window.global_step())) {
      note(visit({tensor, worker, many_workers ? worker : ""}), gaps);
    }
  }
  return gaps;
}

StepReductions read_reductions(const TensorSelection& selection, Reduction reduction, bool abs,
                               const StepWindow& window) {
  StepReductions read;
  read.gaps = visit_tensors(selection, window, [&](const TensorSpot& spot) -> Status {
    TRAINWARDEN_ASSIGN_OR_RETURN(
        const double value,
        window.trial().reduction(spot.tensor, window.global_step(), reduction, abs, Mode::kGlobal, spot.worker));
    read.tensors.push_back({spot, value});
    return Status();
  });
  return read;
}

Verdict nothing_to_judge(const JudgingGaps& gaps, std::string_view what, const StepWindow& window) {
  if (!gaps.first_damage.ok()) {
    return Verdict::insufficient_data(
        fmt::format("no {} could be read at {}: {}", what, describe_step(window), gaps.first_damage.to_string()));
  }
  if (!gaps.first_unfit.ok()) {
    return Verdict::not_applicable(fmt::format("no {} was captured at {} in a form that can be judged: {}", what,
                                               describe_step(window), gaps.first_unfit.message()));
  }
  return Verdict::not_applicable(fmt::format("no {} was captured at {}", what, describe_step(window)));
}

std::string describe_step(const StepWindow& window) {
  return step_text(place_of(window.trial(), window.global_step()));
}

Verdict fired(std::string message, std::string advice, std::vector<Evidence> evidence, Severity severity) {
  if (evidence.size() > Verdict::kMaxEvidence) evidence.resize(Verdict::kMaxEvidence);
  return {Outcome::kFired, severity, std::move(message), std::move(advice), std::move(evidence)};
}

}  // namespace trainwarden::rules
