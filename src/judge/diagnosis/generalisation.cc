// Generalisation: training against evaluation, and what is left when nothing else explains a bad loss.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

void look_for_overfitting(const Case& seen, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  if (symptoms.evaluations < 3 || symptoms.is_adversarial || !(symptoms.compared_late >= 0)) return;
  const double train = symptoms.compared_late, late = symptoms.eval_late, best = symptoms.eval_best;
  if (!(late > 0) || !(best > 0)) return;
  const bool rises = late > 1.15 * best && late - best > 0.02 * std::abs(symptoms.eval_first);
  const bool parts =
      late > 2 * train && late - train > 0.15 * std::max(symptoms.constant, std::abs(symptoms.train.first));
  const double share =
      static_cast<double>(symptoms.eval_best_after) / static_cast<double>(std::max<std::int64_t>(1, symptoms.steps));
  std::vector<std::string> evidence = {
      fmt::format("the loss is {} in training and {} in evaluation", number(train), number(late)),
      fmt::format("the evaluation was best at step {} of {}, with {}", symptoms.eval_best_after, symptoms.steps,
                  number(best))};
  if (rises && parts) {
    findings.push_back({"overfitting",
                        late > 1.5 * best ? 0.85 : 0.7,
                        "The evaluation becomes worse while the training goes on to improve",
                        evidence,
                        {},
                        symptoms.eval_best_after,
                        {}});
    if (share < 0.4)
      findings.push_back({"overtraining",
                          0.6,
                          fmt::format("The training goes on long after its best, at step {} of {}",
                                      symptoms.eval_best_after, symptoms.steps),
                          evidence,
                          {},
                          symptoms.eval_best_after,
                          {}});
  } else if (parts && symptoms.skill > 0.5) {
    findings.push_back({"overfitting",
                        0.5,
                        "The evaluation stays far behind the training",
                        evidence,
                        {},
                        symptoms.eval_best_after,
                        {}});
  }
}

void look_for_the_rest(const Case& seen, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  if (symptoms.is_adversarial || symptoms.train.count < 20) return;
  std::vector<std::string> evidence = {fmt::format("the loss went from {} to {} in {} steps",
                                                   number(symptoms.train.first), number(symptoms.train.late),
                                                   symptoms.steps)};
  if (std::isfinite(symptoms.constant))
    evidence.push_back(fmt::format("the best constant answer has a loss of {}", number(symptoms.constant)));
  if (symptoms.has_diverged)
    findings.push_back({"training_diverged",
                        0.6,
                        "The training diverges",
                        evidence,
                        {},
                        std::max<std::int64_t>(0, symptoms.train.first_bad_step),
                        {}});
  if (symptoms.learns_nothing)
    findings.push_back(
        {"no_learning", std::isfinite(symptoms.skill) ? 0.6 : 0.4, "The training learns nothing", evidence, {}, 0, {}});
}

}  // namespace

void look_at_generalisation(const Case& seen, Findings& findings) {
  look_for_overfitting(seen, findings);
  look_for_the_rest(seen, findings);
}

}  // namespace trainwarden::diagnosis
