#include "judge/rules/language/step_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainwarden::rules::language {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Halves first, so that large numbers do not overflow.
double middle_of_sorted(const std::vector<double>& sorted) {
  if (sorted.empty()) return kNan;
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : sorted[half - 1] / 2 + sorted[half] / 2;
}

// `add` is called with each number that is no NaN; returns how many there were.
template <class Add>
std::size_t for_each_number(const std::vector<double>& numbers, Add add) {
  std::size_t count = 0;
  for (const double number : numbers) {
    if (std::isnan(number)) continue;
    add(number);
    ++count;
  }
  return count;
}

}  // namespace

double sum_of(const std::vector<double>& numbers) {
  double sum = 0;
  return for_each_number(numbers, [&](double number) { sum += number; }) > 0 ? sum : kNan;
}

double mean_of(const std::vector<double>& numbers) {
  double sum = 0;
  const std::size_t count = for_each_number(numbers, [&](double number) { sum += number; });
  return count > 0 ? sum / static_cast<double>(count) : kNan;
}

double deviation_of(const std::vector<double>& numbers) {
  const double mean = mean_of(numbers);
  double squares = 0;
  const std::size_t count =
      for_each_number(numbers, [&](double number) { squares += (number - mean) * (number - mean); });
  return count > 0 ? std::sqrt(squares / static_cast<double>(count)) : kNan;
}

double smallest_of(const std::vector<double>& numbers) {
  double smallest = kNan;
  for_each_number(numbers, [&](double number) { smallest = std::fmin(smallest, number); });
  return smallest;
}

double largest_of(const std::vector<double>& numbers) {
  double largest = kNan;
  for_each_number(numbers, [&](double number) { largest = std::fmax(largest, number); });
  return largest;
}

double median_of(std::vector<double> numbers) {
  numbers.erase(std::remove_if(numbers.begin(), numbers.end(), [](double number) { return std::isnan(number); }),
                numbers.end());
  std::sort(numbers.begin(), numbers.end());
  return middle_of_sorted(numbers);
}

double StepSeries::answer(double now) const {
  switch (op_) {
    case Op::kWindowMedian: return middle_of_sorted(sorted_);
    case Op::kWindowMean: return mean_of(numbers_);
    case Op::kWindowMin: return smallest_of(numbers_);
    case Op::kWindowMax: return largest_of(numbers_);
    case Op::kWindowStd: return deviation_of(numbers_);
    case Op::kWindowSum: return sum_of(numbers_);
    case Op::kChange: return now - oldest();
    default: return oldest();  // kLag, kFirst
  }
}

bool StepSeries::push(double number) {
  if (op_ == Op::kFirst && !numbers_.empty()) return false;
  const bool grows = numbers_.size() < length_;
  if (op_ == Op::kWindowMedian) {
    if (!grows && !std::isnan(numbers_[next_])) {
      sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), numbers_[next_]));
    }
    if (!std::isnan(number)) sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), number), number);
  }
  if (grows) {
    numbers_.push_back(number);
  } else {
    numbers_[next_] = number;
  }
  next_ = (next_ + 1) % length_;
  return grows;
}

}  // namespace trainwarden::rules::language
