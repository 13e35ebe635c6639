// Overlap: samples that are in the training and in the evaluation, whole or in part.
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
  // Does nearly each sample have a number of its own in some feature? Then equal samples are one sample twice.
  bool is_continuous = false;
};

bool is_continuous(const Case& seen) {
  constexpr double kNearlyEach = 0.9, kMinSamples = 8;
  const double different = median_of(seen.history, "row_values", 0), samples = median_of(seen.history, "row_values", 1);
  return samples >= kMinSamples && different >= kNearlyEach * samples;
}

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
  trained.is_continuous = is_continuous(seen);
  return trained;
}

Prints trained_batches(const Case& seen) {
  Values prints;
  for (const auto& [step, print] : seen.history.prints) prints.push_back(print);
  return finite_ones(prints);
}

struct Shared {
  std::size_t samples = 0;  // of evaluations that were looked at
  std::size_t trained = 0;  // of them, those that had been trained on
};

Shared shared_samples(const Case& seen, const Trained& trained) {
  Shared shared;
  for (const Evaluated& each : seen.history.evaluations) {
    const Values* rows = each.numbers.find("eval_rows");
    if (rows == nullptr) continue;
    shared.samples += rows->size();
    shared.trained += static_cast<std::size_t>(std::count_if(
        rows->begin(), rows->end(), [&](double row) { return std::isfinite(row) && trained.samples.count(row) > 0; }));
  }
  return shared;
}

void look_for_shared_samples(const Case& seen, const Trained& trained, Findings& findings) {
  const auto [count, shared] = shared_samples(seen, trained);
  constexpr double kMinKnown = 0.1, kHalfBatch = 32;  // of the samples of a batch that have a print
  // In a batch whose labels are its own numbers, a sample is a pair, of which one half says little.
  const bool are_pairs =
      seen.symptoms.classes > 8 && seen.symptoms.classes == median_of(seen.history, "input_shape", 0);
  if (shared < 6 || trained.again < kMinKnown || are_pairs || trained_batches(seen).size() < 2) return;
  const double share = static_cast<double>(shared) / static_cast<double>(count);
  // Where samples are alike by nature, new ones are known, too.
  const double by_chance =
      trained.is_continuous ? 0
                            : 1 - std::exp(-static_cast<double>(trained.samples.size()) * trained.doubles / kHalfBatch);
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

// Of the first samples of an evaluation, which are of its first batches, those that another one of them equals.
std::size_t doubles_of(const Values& rows) {
  constexpr std::size_t kFirst = 64;
  std::size_t doubles = 0;
  Prints known;
  for (std::size_t i = 0; i < std::min(rows.size(), kFirst); ++i) {
    if (std::isfinite(rows[i]) && !known.insert(rows[i]).second) ++doubles;
  }
  return doubles;
}

// Samples that were copied before they were split: one of them is in both parts, and in each more than once.
void look_for_copies(const Case& seen, const Trained& trained, Findings& findings) {
  constexpr std::size_t kMinDoubles = 3, kMinShared = 6;
  constexpr double kMinShare = 0.05;
  if (!trained.is_continuous || trained.doubles <= 0) return;
  std::size_t doubles = 0, samples = 0;
  for (const Evaluated& each : seen.history.evaluations) {
    const Values* const rows = each.numbers.find("eval_rows");
    if (rows == nullptr) continue;
    doubles = std::max(doubles, doubles_of(*rows)), samples = std::max(samples, rows->size());
  }
  const Shared shared = shared_samples(seen, trained);
  const double share = static_cast<double>(shared.trained) / static_cast<double>(shared.samples);
  // Where a small set is evaluated more than once, all are there twice.
  if (doubles < kMinDoubles || 5 * doubles > 2 * samples || shared.trained < kMinShared || !(share >= kMinShare))
    return;
  findings.push_back(
      {"evaluation_on_training_data",
       0.8,
       "The evaluation has copies of samples that the model is trained on: they were copied before they were split",
       {fmt::format("{} of {} looked-at samples of the evaluation had been trained on", shared.trained, shared.samples),
        fmt::format("{} of the first samples of an evaluation equal another of them, and {:.0f} % of the training's "
                    "another of their batch",
                    doubles, 100 * trained.doubles)},
       {},
       0,
       {}});
}

// Pieces of windows: of each window the numbers that follow one another.
constexpr std::size_t kPiecesOfWindow = 4;

std::size_t windows_with(const Values& pieces, std::size_t begin, std::size_t end, const Prints& known) {
  std::size_t windows = 0;
  for (std::size_t at = begin; at + kPiecesOfWindow <= end; at += kPiecesOfWindow) {
    const auto first = pieces.begin() + static_cast<std::ptrdiff_t>(at);
    windows += std::any_of(first, first + kPiecesOfWindow,
                           [&](double piece) { return std::isfinite(piece) && known.count(piece) > 0; })
                   ? 1
                   : 0;
  }
  return windows;
}

struct Overlapping {
  std::size_t windows = 0;  // of evaluations that were looked at
  std::size_t early = 0;    // of the first half of each evaluation's, those that hold pieces that were trained on
  std::size_t late = 0;     // of the second half
  std::size_t of_one = 0;   // the most that one evaluation had
};

Overlapping overlapping_windows(const Case& seen) {
  Prints known;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* const pieces = snapshot.find("pieces");
    if (pieces != nullptr) known.merge(finite_ones(*pieces));
  }
  Overlapping all;
  for (const Evaluated& each : seen.history.evaluations) {
    const Values* const pieces = each.numbers.find("eval_pieces");
    if (pieces == nullptr) continue;
    const std::size_t count = pieces->size() / kPiecesOfWindow, half = count / 2 * kPiecesOfWindow;
    const std::size_t early = windows_with(*pieces, 0, half, known),
                      late = windows_with(*pieces, half, count * kPiecesOfWindow, known);
    all.windows += count, all.early += early, all.late += late;
    all.of_one = std::max(all.of_one, early + late);
  }
  return all;
}

// Windows of series that overlap are parts of each other, whichever of them are in the evaluation. At the border of a
// split by time some do; where they were split at random they do from the first of them to the last.
void look_for_overlapping_windows(const Case& seen, const Trained& trained, Findings& findings) {
  constexpr double kMinShare = 0.15, kMinAgain = 0.1;
  constexpr std::size_t kMinWindows = 24, kManyWindows = 40;
  const Overlapping found = overlapping_windows(seen);
  const Shared shared = shared_samples(seen, trained);
  // Of an evaluation of what is trained on, some samples would be known whole by now.
  const bool are_others = trained.again >= kMinAgain ? shared.trained * 100 <= shared.samples
                                                     : shared.trained == 0 && found.of_one >= kManyWindows;
  const double least = kMinShare * static_cast<double>(found.windows) / 2;
  if (found.windows < kMinWindows || !are_others || static_cast<double>(std::min(found.early, found.late)) < least)
    return;
  findings.push_back({"evaluation_on_training_data",
                      0.82,
                      "Windows of the evaluation overlap with windows that the model is trained on",
                      {fmt::format("{} of {} looked-at windows of the evaluation hold stretches of 8 places that the "
                                   "training has had, and hardly one of them had been trained on whole",
                                   found.early + found.late, found.windows),
                       "so it is where windows that overlap are split at random, and not the series or the time"},
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

KnownSamples known_samples(const Case& seen) {
  const Trained trained = trained_samples(seen);
  std::size_t evaluated = 0;
  for (const Evaluated& each : seen.history.evaluations) {
    if (const Values* const rows = each.numbers.find("eval_rows")) evaluated = rows->size();
  }
  return {trained.samples.size(), evaluated, shared_samples(seen, trained).trained};
}

double samples_seen_again(const Case& seen) {
  return trained_samples(seen).again;
}

void look_at_overlap(const Case& seen, Findings& findings) {
  if (seen.snapshots().empty()) return;
  const Trained trained = trained_samples(seen);
  look_for_shared_samples(seen, trained, findings);
  look_for_copies(seen, trained, findings);
  look_for_overlapping_windows(seen, trained, findings);
  look_for_shared_batches(seen, findings);
}

}  // namespace trainwarden::diagnosis
