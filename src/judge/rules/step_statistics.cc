#include "judge/rules/step_statistics.h"

#include <utility>

#include <fmt/format.h>

#include "judge/rules/step_place.h"

namespace trainwarden::rules {
namespace {

// Of a tensor that was read, or not.
void note(Status status, JudgingGaps& gaps) {
  const bool unfit = status.code() == Code::kOutOfRange || status.code() == Code::kInvalidArgument;
  Status& first = unfit ? gaps.first_unfit : gaps.first_damage;
  if (!status.ok() && first.ok()) first = std::move(status);
}

}  // namespace

JudgingGaps visit_tensors(const TensorSelection& selection, const StepWindow& window, const TensorVisitor& visit) {
  JudgingGaps gaps;
  const auto spots = window.select(selection);
  if (!spots.ok()) {
    gaps.first_damage = spots.status();
    return gaps;
  }
  for (const TensorSpot& spot : *spots) note(visit(spot), gaps);
  return gaps;
}

StepReductions read_reductions(const TensorSelection& selection, Reduction reduction, bool abs,
                               const StepWindow& window) {
  StepReductions read;
  read.gaps = visit_tensors(selection, window, [&](const TensorSpot& spot) -> Status {
    TRAINWARDEN_ASSIGN_OR_RETURN(const double value, window.reduction(spot, reduction, abs));
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
  return place_text(place_of(window));
}

Verdict fired(std::string message, std::string advice, std::vector<Evidence> evidence, Severity severity) {
  if (evidence.size() > Verdict::kMaxEvidence) evidence.resize(Verdict::kMaxEvidence);
  return {Outcome::kFired, severity, std::move(message), std::move(advice), std::move(evidence)};
}

}  // namespace trainwarden::rules
