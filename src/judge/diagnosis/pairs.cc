// Pairs: contrastive trainings, where the label of a sample is its place in the batch.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// Is each sample compared with all of another batch of as many, and its own place the answer?
bool are_labels_places(const Case& seen) {
  if (seen.structure().compared.empty()) return false;
  const Compared& compared = seen.structure().compared.front();
  if (compared.predicted.size() != 2 || compared.predicted[0] != compared.predicted[1]) return false;
  return std::all_of(seen.snapshots().begin(), seen.snapshots().end(), [](const Snapshot& snapshot) {
    const Values* labels = snapshot.find("labels");
    return labels != nullptr && std::all_of(labels->begin(), labels->end(), [](double count) { return count == 1; });
  });
}

// Each is told from the others of its batch alone.
void look_for_few_negatives(const Case& seen, Findings& findings) {
  constexpr double kFew = 4;
  const double classes = seen.symptoms.classes;
  if (!(classes <= kFew) || classes < 2) return;
  findings.push_back(
      {"batch_size",
       0.85,
       fmt::format("Each sample is told from {} other{} of its batch only", classes - 1, classes > 2 ? "s" : ""),
       {fmt::format("the labels are the places in a batch of {}", classes),
        "contrastive losses live on many negatives"},
       {},
       0,
       seen.place("loss")});
}

// Two views of a sample that are the same have the largest similarity that there is: before anything is learned each
// answer is right, and the largest score is the same number in each batch.
void look_for_same_views(const Case& seen, Findings& findings) {
  constexpr double kMany = 8, kDigits = 1e-4;
  constexpr std::size_t kFirst = 3;
  const auto& snapshots = seen.snapshots();
  if (!(seen.symptoms.classes >= kMany) || snapshots.size() < 2 * kFirst || !seen.history.has_seen_start) return;
  const double largest = snapshots.front().at("predicted", 3);
  if (!(largest > 0)) return;
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    if (i < kFirst && !(snapshots[i].at("accuracy") > 0.999)) return;
    if (!(std::abs(snapshots[i].at("predicted", 3) - largest) < kDigits * largest)) return;
  }
  findings.push_back({"random_state_repeated",
                      0.85,
                      "The two views of each sample are the same: what should change them at random does not",
                      {"all answers are right before the first step",
                       fmt::format("the largest similarity is {} in each of {} looked-at steps, as of a sample with "
                                   "itself",
                                   number(largest), snapshots.size())},
                      {},
                      0,
                      seen.place("loss")});
}

}  // namespace

void look_at_pairs(const Case& seen, Findings& findings) {
  if (seen.snapshots().size() < 3 || !are_labels_places(seen)) return;
  look_for_few_negatives(seen, findings);
  look_for_same_views(seen, findings);
}

}  // namespace trainwarden::diagnosis
