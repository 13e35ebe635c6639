// Alignment: whether inputs and targets are still those of the same samples. Exact: from what was drawn, and from
// lengths.
#include <cmath>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"

namespace trainwarden::diagnosis {
namespace {

// One of the two has another order than the data loader gave, and the other one has not.
void look_for_reordered_samples(const Case& seen, Findings& findings) {
  constexpr std::size_t kEnough = 2;
  std::size_t looks = 0, inputs = 0, targets = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const double input = snapshot.at("reordered", 0), target = snapshot.at("reordered", 1);
    if (!std::isfinite(input) || !std::isfinite(target)) continue;
    ++looks;
    inputs += input == 1 && target == 0 ? 1 : 0;
    targets += input == 0 && target == 1 ? 1 : 0;
  }
  const std::size_t apart = inputs + targets;
  if (apart < kEnough || 2 * apart < looks) return;
  findings.push_back(
      {"labels_misaligned",
       0.95,
       fmt::format("The samples of a batch are put into another order before the {}, and the {} are not",
                   inputs > targets ? "model" : "loss", inputs > targets ? "targets" : "inputs"),
       {fmt::format("in {} of {} looked-at steps only one of them is as the data loader gave it", apart, looks)},
       {},
       0,
       seen.place("loss")});
}

// Sequences and their targets are of the same lengths, but not at the same places of the batch.
void look_for_other_lengths(const Case& seen, Findings& findings) {
  constexpr double kMany = 0.3;
  const double differ = median_of(seen.history, "lengths", 0), are_same = median_of(seen.history, "lengths", 1);
  if (!(differ > kMany) || !(are_same == 1)) return;
  findings.push_back(
      {"labels_misaligned",
       0.93,
       "The targets belong to other sequences of the batch than those that they stand beside",
       {fmt::format("{:.0f} % of the sequences are longer or shorter than their targets, and all lengths "
                    "are there elsewhere in the batch",
                    100 * differ),
        "whoever sorts the sequences by length must sort the targets in the same way"},
       {},
       0,
       seen.place("loss")});
}

}  // namespace

void look_at_alignment(const Case& seen, Findings& findings) {
  look_for_reordered_samples(seen, findings);
  look_for_other_lengths(seen, findings);
}

}  // namespace trainwarden::diagnosis
