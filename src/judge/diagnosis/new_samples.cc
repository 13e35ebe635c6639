// New samples: what the training makes of samples that it has never seen. Who learns those has learned something that
// holds for others, too; where the evaluation is poor all the same, the evaluation gets something else.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// Full examinations before any sample came a second time, and before the first evaluation, which mostly ends an epoch.
std::vector<const Snapshot*> first_epoch(const Case& seen) {
  constexpr double kKnown = 0.05;
  if (!seen.history.has_seen_start || seen.history.evaluations.empty()) return {};
  const std::int64_t end = seen.history.evaluations.front().after_step;
  std::vector<const Snapshot*> looks;
  std::set<double> known;
  for (const Snapshot& snapshot : seen.snapshots()) {
    if (snapshot.step > end) break;
    const Values* rows = snapshot.find("row_prints");
    if (rows == nullptr || rows->empty()) continue;
    const auto again = std::count_if(rows->begin(), rows->end(), [&](double row) { return known.count(row) > 0; });
    if (static_cast<double>(again) > kKnown * static_cast<double>(rows->size())) break;
    known.insert(rows->begin(), rows->end());
    looks.push_back(&snapshot);
  }
  return looks;
}

// Of the last ones, the median.
double late_of(const std::vector<const Snapshot*>& looks, std::string_view name) {
  constexpr std::size_t kMinLooks = 6;
  if (looks.size() < kMinLooks) return kUnknown;
  Values values;
  for (std::size_t i = looks.size() - looks.size() / 3; i < looks.size(); ++i) values.push_back(looks[i]->at(name));
  return median(std::move(values));
}

struct OfNewSamples {
  double skill = kUnknown, accuracy = kUnknown;
};

OfNewSamples of_new_samples(const Case& seen) {
  const auto looks = first_epoch(seen);
  const double plain = late_of(looks, "plain_loss");
  const double loss = std::isfinite(plain) ? plain : late_of(looks, "compared_loss");
  return {1 - loss / seen.symptoms.yardstick, late_of(looks, "accuracy")};
}

}  // namespace

bool learns_new_samples(const Case& seen) {
  constexpr double kSkill = 0.35, kAbove = 0.3;
  const OfNewSamples fresh = of_new_samples(seen);
  return fresh.skill > kSkill || fresh.accuracy > seen.symptoms.majority + kAbove;
}

void look_at_new_samples(const Case& seen, Findings& findings) {
  constexpr double kFarBehind = 0.25, kChance = 0.1, kNoBetter = 0.95;
  constexpr std::size_t kMinEvaluations = 3;
  const Symptoms& symptoms = seen.symptoms;
  // A single one may be of other data, as before a model is tuned to them.
  if (symptoms.is_adversarial || symptoms.evaluations < kMinEvaluations || !learns_new_samples(seen)) return;
  const auto& last = seen.history.evaluations.back();
  if (5 * last.after_step < 3 * symptoms.steps) return;  // of a time long past
  const OfNewSamples fresh = of_new_samples(seen);
  // The best of all evaluations, which had more training than the first new samples.
  const bool by_accuracy = fresh.accuracy - symptoms.eval_accuracy_best > kFarBehind;
  const bool by_loss = symptoms.eval_best > kNoBetter * symptoms.yardstick;
  if (!by_accuracy && !by_loss) return;
  const bool is_by_chance = by_loss || symptoms.eval_accuracy_best < symptoms.majority + kChance;
  const std::vector<std::string> evidence = {
      by_accuracy
          ? fmt::format("{:.0f} % of the answers were right for samples of the training that it had never seen, "
                        "and {:.0f} % at best in evaluation",
                        100 * fresh.accuracy, 100 * symptoms.eval_accuracy_best)
          : fmt::format("the loss of samples that were never seen was {:.0f} % below that of a constant answer; "
                        "the evaluation was {} at best, a constant answer gives {}",
                        100 * fresh.skill, number(symptoms.eval_best), number(symptoms.yardstick))};
  const auto find = [&](const char* cause, double weight, const char* statement) {
    findings.push_back({cause, weight, statement, evidence, {}, last.after_step, {}});
  };
  find("evaluation_preprocessing", is_by_chance ? 0.82 : 0.65,
       "New samples are learned in training and not in evaluation: the evaluation gets them in another form");
  if (seen.has_batch_norm()) {
    find(
        "batch_norm_statistics", 0.5,
        "New samples are learned in training and not in evaluation: the running statistics of batch norm may be wrong");
  }
  find("target_leak", 0.45,
       "New samples are learned in training and not in evaluation: those of the training may hold the answer");
  find("labels_misaligned", 0.4,
       "New samples are learned in training and not in evaluation: the evaluation's labels may have another order");
}

}  // namespace trainwarden::diagnosis
