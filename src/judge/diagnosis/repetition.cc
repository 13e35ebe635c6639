// Repetition: batches, samples and random numbers that come again where new ones are meant.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// Do batches come back, as in epochs that are all shuffled alike?
bool do_batches_come_back(const Case& seen) {
  std::map<double, std::size_t> times;
  for (const auto& [step, print] : seen.history.prints) ++times[print];
  return seen.history.prints.size() >= 8 && times.size() * 2 <= seen.history.prints.size();
}

// Few looks, between which the seed was set as often as steps were made.
bool is_seeded_in_each_step(const Case& seen) {
  constexpr std::int64_t kEnoughSteps = 8, kMostCounted = 64;
  std::int64_t covered = 0;
  double before = kUnknown, first = kUnknown;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const auto step = static_cast<double>(snapshot.step);
    const double steps = std::min(step - before, static_cast<double>(kMostCounted)), seed = snapshot.at("seeds", 1);
    before = step;
    if (!std::isfinite(steps)) continue;  // the first one
    if (!(steps >= 1)) return false;
    if (!std::isfinite(first)) first = seed;
    if (!(snapshot.at("seeds", 0) >= steps) || seed != first) return false;
    covered += static_cast<std::int64_t>(steps);
  }
  return covered >= kEnoughSteps;
}

// The program sets the same seed again and again, so that "random" means the same each time.
void look_for_seeds(const Case& seen, Findings& findings) {
  std::size_t looks = 0, same = 0;
  double first = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    if (snapshot.step < 1) continue;
    ++looks;
    const double seed = snapshot.at("seeds", 1);
    if (!(snapshot.at("seeds", 0) >= 1)) continue;
    if (same == 0) first = seed;
    same += seed == first ? 1 : 0;
  }
  if (looks >= 6 && same >= 4 && same * 10 < looks * 8) {
    findings.push_back(
        {"random_state_repeated",
         do_batches_come_back(seen) ? 0.85
         : same * 5 >= looks        ? 0.7
                                    : 0.6,  // an evaluation may be to draw the same each time
         fmt::format("The program sets the seed {} again and again while it trains", number(first)),
         {fmt::format("before {} of {} looked-at steps: what is drawn at random repeats from there", same, looks)},
         {},
         1,
         {}});
    return;
  }
  if ((looks < 4 || same * 10 < looks * 8) && !is_seeded_in_each_step(seen)) return;
  findings.push_back({"random_state_repeated",
                      0.88,
                      fmt::format("The program sets the seed {} again in each step", number(first)),
                      {fmt::format("at {} of {} looked-at steps after the first", same, looks)},
                      {},
                      1,
                      {}});
}

// Drawn from a normal distribution.
bool is_noise(const Case& seen) {
  return std::abs(median_of(seen.history, "input", 0)) < 0.1 && std::abs(median_of(seen.history, "input", 1) - 1) < 0.1;
}

// Do all batches that were looked at have the same samples, in whatever order?
bool are_all_rows_of_one_batch(const Case& seen) {
  constexpr double kDigits = 1e6;  // that the place in the batch does not change
  std::set<double> all;
  std::size_t batches = 0, largest = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* rows = snapshot.find("row_prints");
    if (rows == nullptr || static_cast<double>(rows->size()) != snapshot.at("input_shape", 0)) continue;
    ++batches;
    largest = std::max(largest, rows->size());
    for (const double row : *rows) all.insert(std::round(row * kDigits));
  }
  return batches >= 8 && largest >= 8 && all.size() <= largest;
}

// How many different samples there are, in a batch and in all that were looked at.
struct Variety {
  std::size_t looks = 0;
  std::size_t batch = 0;   // of the largest one, as far as its samples have prints
  std::size_t of_one = 0;  // batches that have a single sample, again and again
  std::set<double> all;
};

Variety variety_of(const Case& seen) {
  constexpr std::size_t kBatch = 8;
  Variety variety;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* rows = snapshot.find("row_prints");
    if (rows == nullptr || rows->size() < kBatch ||
        !std::all_of(rows->begin(), rows->end(), [](double row) { return std::isfinite(row); }))
      continue;
    const std::set<double> different(rows->begin(), rows->end());
    ++variety.looks;
    variety.batch = std::max(variety.batch, rows->size());
    variety.of_one += different.size() == 1 ? 1 : 0;
    variety.all.insert(different.begin(), different.end());
  }
  return variety;
}

// A sampler that draws a few samples only, or a memory that holds one array many times.
void look_for_few_samples(const Case& seen, Findings& findings) {
  constexpr std::size_t kEnoughLooks = 5, kFew = 4, kMany = 8;
  const Variety variety = variety_of(seen);
  if (variety.looks < kEnoughLooks || seen.symptoms.is_adversarial) return;
  if (variety.of_one == variety.looks && variety.all.size() > 1) {
    findings.push_back(
        {"constant_inputs",
         0.85,
         fmt::format("All {} samples of a batch are the same one, another one in each batch", variety.batch),
         {fmt::format("that was so in all {} looked-at batches", variety.looks),
          "an array that is filled anew and kept many times is the same array each time: copy it"},
         {},
         0,
         {}});
    return;
  }
  std::set<double> evaluated;
  for (const Evaluated& each : seen.history.evaluations) {
    const Values* const rows = each.numbers.find("eval_rows");
    if (rows == nullptr) continue;
    std::copy_if(rows->begin(), rows->end(), std::inserter(evaluated, evaluated.end()),
                 [](double row) { return std::isfinite(row); });
  }
  if (variety.all.size() > kFew || evaluated.size() < kMany + variety.all.size()) return;
  findings.push_back(
      {"same_batch_repeated",
       0.9,
       fmt::format("The training draws {} different samples only, again and again", variety.all.size()),
       {fmt::format("{} looked-at batches of {} samples have no others; in the evaluation there are at least {}",
                    variety.looks, variety.batch, evaluated.size()),
        "a sampler's weights are one for each sample, not for each class"},
       {},
       0,
       {}});
}

// In all looks, the light ones, too.
bool is_one_batch(const Case& seen) {
  const auto& prints = seen.history.prints;
  const auto& light = seen.history.light_prints;
  return !prints.empty() && std::all_of(prints.begin(), prints.end(), [&](const auto& each) {
    return each.second == prints.front().second;
  }) && std::all_of(light.begin(), light.end(), [&](double each) { return each == prints.front().second; });
}

bool fails_on_others(const Case& seen) {
  const Symptoms& symptoms = seen.symptoms;
  return symptoms.evaluations > 0 &&
         (symptoms.eval_late > 2 * symptoms.compared_late || symptoms.eval_accuracy < symptoms.accuracy - 0.3);
}

void look_for_repeated_batches(const Case& seen, Findings& findings) {
  std::map<double, std::size_t> times;
  for (const auto& [step, print] : seen.history.prints) ++times[print];
  const bool is_one = is_one_batch(seen);
  const std::size_t fulls = seen.history.prints.size(), count = fulls + (is_one ? seen.history.light_prints.size() : 0);
  constexpr std::size_t kEnough = 8, kEnoughOfOne = 5;  // on a busy machine there are no more
  const bool has_same_rows = are_all_rows_of_one_batch(seen);
  if (count < (is_one ? kEnoughOfOne : kEnough) || (times.size() == 1 && !is_one && !has_same_rows)) return;
  std::size_t in_row = 0;
  for (std::size_t i = 1; i < fulls; ++i)
    in_row += seen.history.prints[i].second == seen.history.prints[i - 1].second ? 1 : 0;
  if (is_one || has_same_rows) {
    const bool evaluates = seen.symptoms.evaluations > 0;
    if (seen.symptoms.is_adversarial && is_noise(seen)) {
      findings.push_back({"random_state_repeated",
                          0.85,
                          "The noise that the models get is the same in each step",
                          {fmt::format("all {} looked-at steps have the same", count)},
                          {},
                          1,
                          {}});
      return;
    }
    findings.push_back(
        {"same_batch_repeated",
         fails_on_others(seen) ? 0.7 : 0.45,  // or one batch is learned by heart on purpose, to see whether that works
         fmt::format("All {} looked-at steps trained on the same batch", count),
         {has_same_rows ? "the same samples are in each of them"
                        : fmt::format("{} fingerprints of batches, {} of them different", count, times.size())},
         evaluates ? std::vector<std::string>() : std::vector<std::string>{"full-batch training looks the same"},
         1,
         {}});
  } else if (in_row * 10 > count * 8 || (times.size() <= 3 && count >= 30)) {
    const bool is_bad = seen.symptoms.eval_late > 2 * seen.symptoms.compared_late;
    findings.push_back({"same_batch_repeated",
                        is_bad ? 0.6 : 0.4,
                        fmt::format("The same {} batches come again and again", times.size()),
                        {fmt::format("{} fingerprints of batches, {} of them different", count, times.size())},
                        {},
                        1,
                        {}});
  }
}

// Inputs that are changed anew each time, as by augmentation, and their labels the same ones in the same order.
void look_for_repeated_labels(const Case& seen, Findings& findings) {
  constexpr std::size_t kEnough = 4;
  Values prints;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const double print = snapshot.at("label_print", 0);
    if (std::isfinite(print)) prints.push_back(print);
  }
  const bool are_same = std::all_of(prints.begin(), prints.end(), [&](double each) { return each == prints.front(); });
  if (prints.size() < kEnough || !are_same || is_one_batch(seen)) return;
  findings.push_back({"same_batch_repeated",
                      fails_on_others(seen) ? 0.87 : 0.45,
                      fmt::format("All {} looked-at batches have the same labels in the same order: the same samples "
                                  "are drawn each time",
                                  prints.size()),
                      {"their inputs differ, as where they are augmented"},
                      {"full-batch training looks the same"},
                      1,
                      {}});
}

}  // namespace

void look_at_repetition(const Case& seen, Findings& findings) {
  if (seen.snapshots().empty()) return;
  look_for_seeds(seen, findings);
  look_for_few_samples(seen, findings);
  look_for_repeated_batches(seen, findings);
  look_for_repeated_labels(seen, findings);
}

}  // namespace trainwarden::diagnosis
