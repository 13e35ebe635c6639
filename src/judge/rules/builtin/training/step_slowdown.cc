#include "judge/rules/builtin/training/step_slowdown.h"

#include <algorithm>
#include <cmath>

namespace trainwarden::rules {
namespace {

constexpr double kLonger = 1.2;
constexpr double kEven = 0.1;       // of the rise: stretches that lie further from their line have none
constexpr double kShortest = 0.1;   // of the fastest stretch: a line that starts below it is not believed
constexpr std::size_t kFewest = 4;  // stretches of a line

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void StepSlowdown::add(double seconds) {
  if (!(seconds > 0) || !std::isfinite(seconds)) return;
  sum_ += seconds;
  ++count_;
  stretch_.push_back(seconds);
  if (stretch_.size() < stretch_steps_) return;
  medians_.push_back(median_of(std::move(stretch_)));
  stretch_.clear();
  if (medians_.size() > kMostStretches) merge_neighbours();
}

void StepSlowdown::merge_neighbours() {
  // The last one has no neighbour yet: it is the beginning of the next stretch.
  const double last = medians_.back();
  for (std::size_t i = 0; i < kMostStretches / 2; ++i) medians_[i] = (medians_[2 * i] + medians_[2 * i + 1]) / 2;
  medians_.resize(kMostStretches / 2);
  stretch_.assign(stretch_steps_, last);
  stretch_steps_ *= 2;
}

StepSlowdown::Line StepSlowdown::line() const {
  const auto steps = static_cast<double>(stretch_steps_);
  std::vector<double> slopes, starts, distances;
  for (std::size_t i = 0; i < medians_.size(); ++i) {
    for (std::size_t j = i + 1; j < medians_.size(); ++j) {
      slopes.push_back((medians_[j] - medians_[i]) / (steps * static_cast<double>(j - i)));
    }
  }
  const double slope = median_of(std::move(slopes));
  const auto middle = [steps](std::size_t i) { return steps * (static_cast<double>(i) + 0.5); };
  for (std::size_t i = 0; i < medians_.size(); ++i) starts.push_back(medians_[i] - slope * middle(i));
  Line line{median_of(std::move(starts)), 0};
  for (std::size_t i = 0; i < medians_.size(); ++i) {
    distances.push_back(std::abs(medians_[i] - line.at_first - slope * middle(i)));
  }
  line.misfit = median_of(std::move(distances));
  return line;
}

std::optional<Cost> StepSlowdown::cost() const {
  if (medians_.size() < 2) return std::nullopt;
  const double mean = sum_ / static_cast<double>(count_);
  const double late = medians_.back();
  const double fastest = *std::min_element(medians_.begin(), medians_.end());
  if (late < kLonger * fastest || mean < fastest) return std::nullopt;
  double first = fastest;
  if (medians_.size() >= kFewest) {
    const Line found = line();
    if (found.misfit <= kEven * (late - fastest)) first = std::clamp(found.at_first, kShortest * fastest, fastest);
  }
  const double share = 1 - first / mean;
  return cost_of({share, 1 - fastest / mean, 1 - first / late}, {1, 0.5, 1});
}

}  // namespace trainwarden::rules
