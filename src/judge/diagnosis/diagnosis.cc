#include "judge/diagnosis/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "judge/diagnosis/causes.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

constexpr std::size_t kMaxLines = 6;
constexpr double kSilencing = 0.5;  // a cause must weigh as much to put others behind it

// From what a detector weighs to how often that is right. Of 32 findings that weighed less than 0.8, on the first run
// of 24 families of programs that no detector had been tuned on, 5 were right; of those above, four in five.
double how_sure(double weight) {
  constexpr double kSolid = 0.8, kShare = 0.45;
  return weight >= kSolid ? weight : kShare * weight;
}

bool explains(std::string_view cause, std::string_view other) {
  const Cause* known = find_cause(cause);
  return known != nullptr && std::find(known->explains.begin(), known->explains.end(), other) != known->explains.end();
}

// Of one cause the surest finding stays, and takes the evidence of the others.
Findings one_for_each_cause(Findings findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const CauseFinding& a, const CauseFinding& b) { return a.confidence > b.confidence; });
  Findings kept;
  for (CauseFinding& each : findings) {
    const auto same =
        std::find_if(kept.begin(), kept.end(), [&](const CauseFinding& other) { return other.cause == each.cause; });
    if (same == kept.end()) {
      kept.push_back(std::move(each));
      continue;
    }
    same->step = std::min(same->step, each.step);
    if (same->place.empty()) same->place = each.place;
    for (std::string& line : each.evidence) {
      if (std::find(same->evidence.begin(), same->evidence.end(), line) == same->evidence.end())
        same->evidence.push_back(std::move(line));
    }
  }
  return kept;
}

// A cause silences what follows from it, unless that is far surer.
void part_consequences(Findings findings, Diagnosis& diagnosis) {
  for (CauseFinding& each : findings) {
    const bool follows = std::any_of(findings.begin(), findings.end(), [&](const CauseFinding& other) {
      return &other != &each && explains(other.cause, each.cause) && other.confidence >= kSilencing &&
             other.confidence > each.confidence - 0.3 &&
             !(explains(each.cause, other.cause) && each.confidence >= other.confidence);
    });
    (follows ? diagnosis.consequences : diagnosis.findings).push_back(each);
  }
}

// Only where the second one is not far behind the first.
std::string what_would_decide(const Findings& findings) {
  constexpr double kFarBehind = 0.4;
  if (findings.size() < 2 || findings[0].confidence - findings[1].confidence > kFarBehind) return {};
  return std::string(what_tells_apart(findings[0].cause, findings[1].cause));
}

void name_what_is_missing(const TrainingHistory& history, Diagnosis& diagnosis) {
  if (history.examinations == 0) {
    diagnosis.missing.push_back(fmt::format(
        "the training was not examined: a program that has no PyTorch model in Python, or a run of an older version; "
        "only its {} speak",
        history.losses.empty() ? "rules" : "losses and its rules"));
    return;
  }
  if (history.graphs.empty()) diagnosis.missing.push_back("the operators of the loss: no backward pass was seen");
  if (history.structure.compared.empty()) {
    diagnosis.missing.push_back(
        "predictions and targets: the loss is no function of torch.nn, so no yardstick is known");
  }
  if (history.evaluations.empty()) diagnosis.missing.push_back("an evaluation: nothing is known of how it generalises");
  if (history.unreadable > 0)
    diagnosis.missing.push_back(fmt::format("{} damaged records of the examination", history.unreadable));
}

std::string doubt_of(const TrainingHistory& history) {
  const auto is_lost = [](const std::optional<double>& loss) { return loss && !std::isfinite(*loss); };
  const Values& losses = history.losses.values;
  const auto lost = std::count_if(losses.begin(), losses.end(), [](double loss) { return !std::isfinite(loss); });
  // A gradient scaler tries how far it can go, and leaves out the steps that were too far.
  const bool is_tried = history.signals.count("amp/skipped") > 0 && !losses.empty() && std::isfinite(losses.back());
  if (lost > 0 && !is_tried) return fmt::format("{} of {} looked-at losses are NaN or infinite", lost, losses.size());
  if (is_lost(history.saved_loss)) return fmt::format("the last loss that was kept is {}", number(*history.saved_loss));
  if (!is_lost(history.printed_loss)) return {};
  return fmt::format("the last loss of training that the program said is {}", number(*history.printed_loss));
}

// A loss that is no number at the end is a fact, whatever has led to it: where no cause is sure, that is what is wrong.
// One such loss alone may be a step that a gradient scaler leaves out.
void report_lost_loss(const TrainingHistory& history, Diagnosis& diagnosis) {
  constexpr double kFact = 0.9;
  constexpr std::size_t kSure = 2;
  const Values& losses = history.losses.values;
  const auto last_known = std::find_if(losses.rbegin(), losses.rend(), [](double loss) { return std::isfinite(loss); });
  const auto lost = static_cast<std::size_t>(last_known - losses.rbegin());
  if (lost < std::min(losses.size(), kSure) || lost == 0 || diagnosis.first() != nullptr || history.fulls == 0) return;
  const std::int64_t step = history.losses.steps[losses.size() - lost];
  CauseFinding finding{"training_diverged",
                       kFact,
                       fmt::format("The loss is NaN or infinite from step {} on", step),
                       {doubt_of(history)},
                       {},
                       step,
                       {}};
  if (last_known != losses.rend())
    finding.evidence.push_back(fmt::format("the last one that is a number is {}", number(*last_known)));
  Findings& findings = diagnosis.findings;
  std::erase_if(findings, [](const CauseFinding& each) { return each.cause == "training_diverged"; });
  findings.insert(findings.begin(), std::move(finding));
  diagnosis.apart.clear();
}

Diagnosis diagnose_one(const TrainingHistory& history) {
  Diagnosis diagnosis;
  diagnosis.symptoms = symptoms_of(history);
  diagnosis.steps = history.last_step + 1;
  diagnosis.examined = history.fulls;
  diagnosis.spent_seconds = history.spent_seconds;
  if (history.fulls == 0) diagnosis.alarms = alarming_rules(history);
  const Case seen{history, diagnosis.symptoms};
  Findings findings;
  for (const auto look :
       {look_at_wiring,  look_at_cuts,          look_at_rates,          look_at_rounding,     look_at_start,
        look_at_graph,   look_at_axes,          look_at_masks,          look_at_signs,        look_at_broadcast,
        look_at_loss,    look_at_class_weights, look_at_padding,        look_at_inputs,       look_at_evaluation_inputs,
        look_at_data,    look_at_target_means,  look_at_repetition,     look_at_alignment,    look_at_pairs,
        look_at_overlap, look_at_modes,         look_at_generalisation, look_at_new_samples,  look_at_collapse,
        look_at_state,   look_at_machine,       look_at_rules,          look_at_open_symptoms}) {
    look(seen, findings);
  }
  findings.erase(std::remove_if(findings.begin(), findings.end(),
                                [](const CauseFinding& each) { return each.confidence < kTold; }),
                 findings.end());
  part_consequences(one_for_each_cause(std::move(findings)), diagnosis);
  diagnosis.apart = what_would_decide(diagnosis.findings);
  for (auto* list : {&diagnosis.findings, &diagnosis.consequences}) {
    for (CauseFinding& each : *list) each.confidence = how_sure(each.confidence);
  }
  for (CauseFinding& each : diagnosis.findings) {
    if (each.evidence.size() > kMaxLines) each.evidence.resize(kMaxLines);
  }
  report_lost_loss(history, diagnosis);
  name_what_is_missing(history, diagnosis);
  return diagnosis;
}

// Where a process trains one model after another, the one before may be what is wrong.
Diagnosis diagnose_trainings(const TrainingHistory& all) {
  Diagnosis diagnosis = diagnose_one(all.best_known());
  const TrainingHistory* const other = all.other_known();
  if (other == nullptr) return diagnosis;
  Diagnosis before = diagnose_one(*other);
  // What breaks in an earlier training is no fault of the one that goes on from it.
  const bool is_broken = other != &all && before.symptoms.train.not_finite > 0 && before.first() != nullptr;
  if (diagnosis.first() != nullptr && !is_broken) return diagnosis;
  // Of a few looks only what is read off the program counts.
  constexpr double kExact = 0.85;
  const bool is_told = before.first() != nullptr || (diagnosis.findings.empty() && !before.findings.empty());
  if (!is_told || (!other->is_well_known() && before.findings.front().confidence < kExact)) return diagnosis;
  before.findings.front().evidence.insert(
      before.findings.front().evidence.begin(),
      other == &all ? "it is of the last training of the process" : "it is of an earlier training of the same process");
  return before;
}

}  // namespace

Diagnosis diagnose(const TrainingHistory& history) {
  Diagnosis diagnosis = diagnose_trainings(history);
  diagnosis.doubt = doubt_of(history);
  return diagnosis;
}

}  // namespace trainwarden::diagnosis
