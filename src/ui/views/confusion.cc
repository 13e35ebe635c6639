#include "ui/views/confusion.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "judge/rules/builtin/data/class_labels.h"
#include "judge/rules/trial_window.h"

namespace trainwarden::views {
namespace {

constexpr double kZ95 = 1.959963984540054;  // the normal distribution's 97.5 % point

using Cells = std::map<std::pair<std::int64_t, std::int64_t>, double>;  // by actual and predicted class

// All steps of the range so far.
class Counting {
 public:
  void add(const rules::LabelledClasses& pair) {
    for (std::size_t i = 0; i < pair.actual.size(); ++i) {
      ++cells_[{pair.actual[i], pair.predicted[i]}];
      ++seen_[pair.actual[i]];
      ++seen_[pair.predicted[i]];
    }
  }
  bool empty() const { return cells_.empty(); }

  // The classes that occur most have rows of their own.
  void fill(Confusion& confusion, std::size_t most) const {
    confusion.classes = rows(most);
    confusion.folded_classes = seen_.size() - std::min(seen_.size(), confusion.classes.size());
    if (confusion.folded_classes > 0) {
      confusion.classes.back() = Confusion::kOther;
      ++confusion.folded_classes;
    }
    const std::size_t size = confusion.classes.size();
    confusion.counts.assign(size * size, 0);
    for (const auto& [place, count] : cells_) {
      confusion.counts[row_of(confusion, place.first) * size + row_of(confusion, place.second)] += count;
      confusion.samples += count;
    }
  }

 private:
  std::vector<std::int64_t> rows(std::size_t most) const {
    std::vector<std::pair<double, std::int64_t>> by_count;
    for (const auto& [number, count] : seen_) by_count.emplace_back(-count, number);
    std::sort(by_count.begin(), by_count.end());
    const std::size_t kept = std::min(most, by_count.size());
    if (kept < by_count.size() && kept > 0) by_count[kept - 1].second = INT64_MAX;  // its place is that of the others
    std::vector<std::int64_t> classes;
    for (std::size_t i = 0; i < kept; ++i) classes.push_back(by_count[i].second);
    std::sort(classes.begin(), classes.end());
    return classes;
  }

  static std::size_t row_of(const Confusion& confusion, std::int64_t number) {
    const bool folded = confusion.folded_classes > 0;
    const auto end = confusion.classes.end() - (folded ? 1 : 0);
    const auto found = std::lower_bound(confusion.classes.begin(), end, number);
    if (found != end && *found == number) return static_cast<std::size_t>(found - confusion.classes.begin());
    return confusion.classes.size() - 1;
  }

  Cells cells_;
  std::map<std::int64_t, double> seen_;
};

void work_out_numbers(Confusion& confusion) {
  const std::size_t size = confusion.classes.size();
  confusion.numbers.assign(size, {});
  double hits = 0;
  for (std::size_t i = 0; i < size; ++i) {
    ClassNumbers& row = confusion.numbers[i];
    for (std::size_t j = 0; j < size; ++j) {
      row.actual += confusion.counts[i * size + j];
      row.predicted += confusion.counts[j * size + i];
    }
    if (confusion.classes[i] != Confusion::kOther) row.hits = confusion.counts[i * size + i];
    hits += row.hits;
    row.precision = wilson_part(row.hits, row.predicted);
    row.recall = wilson_part(row.hits, row.actual);
    row.f1 = 2 * row.hits / (row.actual + row.predicted);
  }
  confusion.accuracy = wilson_part(hits, confusion.samples);
}

rules::TensorChoice exactly(const std::string& name) {
  return {rules::tensor_named(name), {}};
}

std::vector<std::int64_t> between(const std::vector<std::int64_t>& steps, const ConfusionRange& range) {
  const auto first = std::lower_bound(steps.begin(), steps.end(), range.from);
  const auto last = std::upper_bound(first, steps.end(), range.to);
  return {first, last};
}

}  // namespace

Part wilson_part(double hits, double of) {
  if (!(of > 0)) return {std::nan(""), 0, 1};
  const double p = hits / of;
  const double z2 = kZ95 * kZ95;
  const double centre = (p + z2 / (2 * of)) / (1 + z2 / of);
  const double half = kZ95 / (1 + z2 / of) * std::sqrt(p * (1 - p) / of + z2 / (4 * of * of));
  return {p, std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

std::vector<std::int64_t> confusion_steps(const Trial& trial, const std::string& labels, const std::string& predictions,
                                          std::optional<Mode> mode) {
  const std::vector<std::int64_t> a = trial.steps_of(labels, Mode::kGlobal, Kept::kValue);
  const std::vector<std::int64_t> b = trial.steps_of(predictions, Mode::kGlobal, Kept::kValue);
  std::vector<std::int64_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  if (mode && *mode != Mode::kGlobal)
    std::erase_if(both, [&](std::int64_t step) { return trial.mode_of(step) != mode; });
  return both;
}

Result<Confusion> count_confusion(Trial& trial, const std::string& labels, const std::string& predictions,
                                  const ConfusionRange& range, const ConfusionLimits& limits) {
  const std::vector<std::int64_t> steps = between(confusion_steps(trial, labels, predictions, range.mode), range);
  if (steps.empty()) {
    return Status(Code::kNotFound, fmt::format("no step from {} to {} holds both \"{}\" and \"{}\"", range.from,
                                               range.to, printable(labels), printable(predictions)));
  }
  Confusion confusion;
  confusion.steps = steps.size();
  const std::int64_t end_ns = system_clock().steady_ns() + std::chrono::nanoseconds(limits.time).count();
  rules::TrialMemory memory;
  Counting counting;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const bool spent = confusion.counted_steps + confusion.unfit_steps >= limits.steps ||
                       (step != steps.rbegin() && system_clock().steady_ns() >= end_ns);
    if (spent) break;
    const rules::TrialWindow window(trial, *step, &memory);
    const rules::StepPairs read = rules::read_pairs(exactly(labels), exactly(predictions), false, window);
    for (const rules::LabelledClasses& pair : read.pairs) counting.add(pair);
    const Status& problem = read.gaps.first_damage.ok() ? read.gaps.first_unfit : read.gaps.first_damage;
    if (!problem.ok() && confusion.first_problem.empty()) {
      confusion.first_problem = fmt::format("step {}: {}", *step, problem.message());
    }
    if (!problem.ok() && read.pairs.empty()) {
      ++confusion.unfit_steps;
      continue;
    }
    ++confusion.counted_steps;
    confusion.first_step = *step;
    confusion.last_step = std::max(confusion.last_step, *step);
  }
  if (confusion.counted_steps == 0) return Status(Code::kInvalidArgument, confusion.first_problem);
  counting.fill(confusion, std::max<std::size_t>(limits.classes, 2));
  work_out_numbers(confusion);
  return confusion;
}

}  // namespace trainwarden::views
