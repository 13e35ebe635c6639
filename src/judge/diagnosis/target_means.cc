// Target means: features that are made of the targets of their samples, as the mean target of those that share a
// category.
#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// What was measured on most samples.
const Values* last_measured(const Case& seen, const std::string& name, std::size_t size) {
  const Values* last = nullptr;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* values = snapshot.find(name);
    if (values != nullptr && values->size() == size) last = values;
  }
  return last;
}

void report_target_mean(const Values& measured, std::string evidence, Findings& findings) {
  findings.push_back(
      {"target_leak",
       0.85,
       fmt::format("Feature {} of the input is made of the targets: it is their mean over a few samples, each of which "
                   "finds its own answer in it",
                   number(measured[0])),
       {std::move(evidence)},
       {},
       0,
       {}});
}

// Samples that share a value have targets that balance around it.
bool look_for_balanced_targets(const Case& seen, Findings& findings) {
  constexpr double kBalanced = -0.05, kSure = 4.5;
  const Values* found = last_measured(seen, "target_balance", 4);
  if (found == nullptr || !((*found)[1] < kBalanced) || !((*found)[2] > kSure)) return false;
  report_target_mean(
      *found,
      fmt::format("of samples that share a value, one's target is above what the feature says where another's is "
                  "below: a correlation of {:.2f} in {} pairs, which is {:.1f} standard errors",
                  (*found)[1], number((*found)[3]), (*found)[2]),
      findings);
  return true;
}

// Its values are shares such as 1/3 and 2/5, and of the samples with each that share has a positive target.
void look_for_shares_of_targets(const Case& seen, Findings& findings) {
  constexpr double kEnoughAtZero = 8, kEnoughAtOne = 2, kFits = 3;
  const Values* found = last_measured(seen, "target_shares", 5);
  if (found == nullptr || !((*found)[2] >= kEnoughAtZero) || !((*found)[3] >= kEnoughAtOne)) return;
  if (!((*found)[4] < kFits)) return;
  report_target_mean(
      *found,
      fmt::format("its {} values are shares such as 1/3 and 2/5, and of the samples with each just that share has a "
                  "positive target: none at the lowest, all at the highest",
                  number((*found)[1])),
      findings);
}

}  // namespace

void look_at_target_means(const Case& seen, Findings& findings) {
  if (!look_for_balanced_targets(seen, findings)) look_for_shares_of_targets(seen, findings);
}

}  // namespace trainwarden::diagnosis
