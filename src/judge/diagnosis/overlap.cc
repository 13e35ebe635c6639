// Overlap: samples that are in the training and in the evaluation.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

using Prints = std::set<double>;

Prints finite_ones(const Values& prints) {
  Prints finite;
  for (const double print : prints) {
    if (std::isfinite(print)) finite.insert(print);
  }
  return finite;
}

struct Trained {
  Prints samples;
  double again = 0;    // of the samples of late examinations, the share that earlier ones had seen: how much of the
                       // training data is known
  double doubles = 0;  // share of samples that another one of their batch equals
};

Trained trained_samples(const Case& seen) {
  Trained trained;
  std::size_t late = 0, known = 0, all = 0, doubles = 0, looks = 0;
  for (const Snapshot& snapshot : seen.snapshots()) looks += snapshot.find("row_prints") != nullptr ? 1 : 0;
  std::size_t at = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* rows = snapshot.find("row_prints");
    if (rows == nullptr) continue;
    const Prints here = finite_ones(*rows);
    all += rows->size(), doubles += rows->size() - here.size();
    if (++at * 3 > looks * 2) {
      late += here.size();
      known += static_cast<std::size_t>(
          std::count_if(here.begin(), here.end(), [&](double row) { return trained.samples.count(row) > 0; }));
    }
    trained.samples.insert(here.begin(), here.end());
  }
  if (late > 0) trained.again = static_cast<double>(known) / static_cast<double>(late);
  if (all > 0) trained.doubles = static_cast<double>(doubles) / static_cast<double>(all);
  return trained;
}

Prints trained_batches(const Case& seen) {
  Values prints;
  for (const auto& [step, print] : seen.history.prints) prints.push_back(print);
  return finite_ones(prints);
}

void look_for_shared_samples(const Case& seen, Findings& findings) {
  const Trained trained = trained_samples(seen);
  std::size_t shared = 0, count = 0;
  for (const Evaluated& each : seen.history.evaluations) {
    const Values* rows = each.numbers.find("eval_rows");
    if (rows == nullptr) continue;
    count += rows->size();
    shared += static_cast<std::size_t>(std::count_if(
        rows->begin(), rows->end(), [&](double row) { return std::isfinite(row) && trained.samples.count(row) > 0; }));
  }
  constexpr double kMinKnown = 0.1, kHalfBatch = 32;  // of the samples of a batch that have a print
  // In a batch whose labels are its own numbers, a sample is a pair, of which one half says little.
  const bool are_pairs =
      seen.symptoms.classes > 8 && seen.symptoms.classes == median_of(seen.history, "input_shape", 0);
  if (shared < 6 || trained.again < kMinKnown || are_pairs || trained_batches(seen).size() < 2) return;
  const double share = static_cast<double>(shared) / static_cast<double>(count);
  // Where samples are alike by nature, new ones are known, too.
  const double by_chance = 1 - std::exp(-static_cast<double>(trained.samples.size()) * trained.doubles / kHalfBatch);
  if (share < 0.7 * trained.again || share < by_chance + 0.3) return;
  findings.push_back(
      {"evaluation_on_training_data",
       0.6,  // some programs evaluate what they train on, too, on purpose
       "The evaluation uses samples that the model is trained on",
       {fmt::format("{} of {} looked-at samples of the evaluation had been trained on, of the training's own {:.0f} % "
                    "were known by then",
                    shared, count, 100 * trained.again)},
       {},
       0,
       {}});
}

void look_for_shared_batches(const Case& seen, Findings& findings) {
  const Prints trained = trained_batches(seen);
  std::size_t shared = 0, count = 0;
  for (const Evaluated& each : seen.history.evaluations) {
    const double print = each.numbers.at("eval_fingerprint");
    if (!std::isfinite(print)) continue;
    ++count;
    shared += trained.count(print) > 0 ? 1 : 0;
  }
  if (shared == 0 || count == 0 || shared * 2 < count || trained.size() < 2) return;
  findings.push_back(
      {"evaluation_on_training_data",
       0.45,
       "Batches of the evaluation are batches of the training",
       {fmt::format("in {} of {} evaluations the first batch was one that had been trained on", shared, count)},
       {},
       0,
       {}});
}

}  // namespace

double samples_seen_again(const Case& seen) {
  return trained_samples(seen).again;
}

void look_at_overlap(const Case& seen, Findings& findings) {
  if (seen.snapshots().empty()) return;
  look_for_shared_samples(seen, findings);
  look_for_shared_batches(seen, findings);
}

}  // namespace trainwarden::diagnosis
