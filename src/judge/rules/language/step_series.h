// StepSeries: the last numbers of one tensor, for windows over steps.
#pragma once

#include <cstddef>
#include <vector>

#include "judge/rules/language/expression.h"

namespace trainwarden::rules::language {

// At most `length` numbers, 8 bytes each, twice of those for a median.
class StepSeries {
 public:
  StepSeries(Op op, std::size_t length) : op_(op), length_(length) {}

  // Full: the window has all of its numbers, and answer() can be asked.
  bool full() const { return op_ == Op::kFirst ? !numbers_.empty() : numbers_.size() == length_; }
  // Over the numbers pushed so far; NaN ones are left out, and of none but NaN it is NaN. kChange: how much more `now`
  // is than the oldest one.
  double answer(double now) const;
  // True when the series has grown.
  bool push(double number);

 private:
  double oldest() const { return numbers_[numbers_.size() == length_ ? next_ : 0]; }
  double median() const;

  Op op_;
  std::size_t length_;
  std::vector<double> numbers_;  // a ring once it is full
  std::vector<double> sorted_;   // kWindowMedian: those that are no NaN
  std::size_t next_ = 0;         // where the next one goes
};

// Of what is no NaN; NaN when there is nothing.
double mean_of(const std::vector<double>& numbers);
double deviation_of(const std::vector<double>& numbers);  // the population's
double sum_of(const std::vector<double>& numbers);
double smallest_of(const std::vector<double>& numbers);
double largest_of(const std::vector<double>& numbers);
double median_of(std::vector<double> numbers);  // of an even number of them the mean of the two in the middle

}  // namespace trainwarden::rules::language
