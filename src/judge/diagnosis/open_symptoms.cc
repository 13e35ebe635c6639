// Open symptoms: what the course of the training shows and no detector explains. Each has a few causes that it mostly
// has; they are told as possibilities, and alarm nobody.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// How often a symptom that nothing explained had this cause, as a weight between being told and being believed.
struct Suspect {
  std::string_view cause;
  double weight;
  std::string_view statement;
};

void suspect(const std::vector<Suspect>& suspects, const std::vector<std::string>& evidence, Findings& findings) {
  for (const Suspect& each : suspects) {
    findings.push_back({std::string(each.cause), each.weight, std::string(each.statement), evidence, {}, 0, {}});
  }
}

// Was there an evaluation in the last two fifths of the training?
bool is_evaluated_late(const Case& seen) {
  const auto& evaluations = seen.history.evaluations;
  return !evaluations.empty() && 5 * evaluations.back().after_step >= 3 * seen.symptoms.steps;
}

void suspect_the_evaluation(const Case& seen, Findings& findings) {
  constexpr double kFar = 2, kPart = 0.1, kGap = 0.2, kLearned = 0.3;
  const Symptoms& symptoms = seen.symptoms;
  if (!is_evaluated_late(seen)) return;
  const double train = symptoms.compared_late, scale = std::fmax(symptoms.yardstick, std::abs(symptoms.compared_early));
  const bool loss_parts = train >= 0 && symptoms.eval_late > kFar * train &&
                          symptoms.eval_late - train > kPart * scale && symptoms.eval_late > kLearned * scale;
  const bool accuracy_parts = symptoms.accuracy - symptoms.eval_accuracy > kGap;
  if (!symptoms.learns_well || !(loss_parts || accuracy_parts)) return;
  std::vector<Suspect> suspects = {
      {"overfitting", 0.45, "The evaluation is far behind the training: the model may know its training data by heart"},
      {"evaluation_preprocessing", 0.4,
       "The evaluation is far behind the training: its inputs may be prepared in another way"},
      {"labels_misaligned", 0.3, "The evaluation is far behind the training: its labels may have another order"}};
  if (seen.has_batch_norm()) {
    suspects.insert(suspects.begin() + 2,
                    {"batch_norm_statistics", 0.35,
                     "The evaluation is far behind the training: the running statistics of batch norm may be wrong"});
  }
  suspect(
      suspects,
      {accuracy_parts && !loss_parts
           ? fmt::format("{:.0f} % of the answers are right in training, {:.0f} % in evaluation",
                         100 * symptoms.accuracy, 100 * symptoms.eval_accuracy)
           : fmt::format("the loss is {} in training, {} in evaluation", number(train), number(symptoms.eval_late))},
      findings);
}

void suspect_the_data(const Case& seen, Findings& findings) {
  constexpr double kNothing = 0.12;
  constexpr std::size_t kEnough = 8;
  const Symptoms& symptoms = seen.symptoms;
  // A loss that has come half its way down learns, whatever its yardstick says: it weighs classes, or is a part.
  constexpr double kHalf = 0.5;
  const bool falls = symptoms.train.late < kHalf * symptoms.train.first;
  const bool is_stuck = symptoms.learns_nothing || (symptoms.skill < kNothing && !falls);
  if (!is_stuck || !symptoms.is_seen_late || symptoms.has_diverged || symptoms.train.count < kEnough) return;
  if (symptoms.eval_late < 0.9 * symptoms.constant) return;
  suspect({{"labels_misaligned", 0.4, "The model hardly learns: labels and inputs may not belong together"},
           {"inputs_scrambled", 0.38, "The model hardly learns: its inputs may not mean what it takes them for"},
           {"learning_rate_too_low", 0.32, "The model hardly learns: its steps may be too small"},
           {"label_noise", 0.3, "The model hardly learns: many labels may be wrong"}},
          seen.course(), findings);
}

void suspect_the_numbers(const Case& seen, Findings& findings) {
  constexpr double kCalm = 3;
  const Course& train = seen.symptoms.train;
  if (train.not_finite == 0 || train.peak > kCalm * std::abs(train.first)) return;
  suspect({{"numerically_unstable_operation", 0.45,
            "The loss stops being a number although it was not large before: an operation may be undefined for what "
            "it gets"},
           {"bad_samples", 0.3,
            "The loss stops being a number although it was not large before: a sample may hold "
            "what is no number"}},
          seen.course(), findings);
}

// Nobody looks at how it generalises.
void suspect_learning_by_heart(const Case& seen, Findings& findings) {
  constexpr double kAll = 0.1, kKnown = 0.8;
  const Symptoms& symptoms = seen.symptoms;
  if (symptoms.evaluations > 0 || !seen.history.evaluations.empty()) return;
  const bool is_learned = symptoms.skill > 1 - kAll || symptoms.train.late < kAll * symptoms.train.first;
  if (!is_learned || !(samples_seen_again(seen) > kKnown)) return;
  suspect({{"overfitting", 0.35, "The model may know its few training samples by heart, and nothing is evaluated"}},
          seen.course(), findings);
}

void suspect_a_leak(const Case& seen, Findings& findings) {
  constexpr double kPerfect = 0.99;
  const Symptoms& symptoms = seen.symptoms;
  if (!(symptoms.skill > kPerfect) || seen.reconstructs()) return;
  if (symptoms.eval_late > 0.1 * symptoms.constant) return;
  suspect({{"target_leak", 0.25, "The task is solved without error: the inputs may hold the answer"}}, seen.course(),
          findings);
}

}  // namespace

void look_at_open_symptoms(const Case& seen, Findings& findings) {
  constexpr double kExplained = 0.5;
  if (seen.snapshots().empty() || seen.symptoms.is_adversarial) return;
  if (std::any_of(findings.begin(), findings.end(), [](const CauseFinding& each) {
        return each.confidence >= kExplained && each.cause != "no_learning" && each.cause != "training_diverged";
      }))
    return;
  suspect_the_evaluation(seen, findings);
  suspect_the_data(seen, findings);
  suspect_the_numbers(seen, findings);
  suspect_learning_by_heart(seen, findings);
  suspect_a_leak(seen, findings);
}

}  // namespace trainwarden::diagnosis
