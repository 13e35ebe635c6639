// OutlierWatch: which of many times are far longer than the others, by median and median absolute deviation, in bounded
// memory; and whether they come at regular distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace trainwarden::rules {

struct OutlierLimits {
  double deviations = 5;    // above the median, in standard deviations as the median absolute deviation gives them
  double factor = 2;        // and above so many times the median
  double least_excess = 0;  // and above it by so much
};

// Of a time that was judged. `expected` is the median.
struct OutlierTime {
  bool is_outlier = false;
  double expected = 0;
  double limit = 0;
};

class OutlierWatch {
 public:
  static constexpr std::size_t kRemembered = 501;  // times that the median is taken of
  static constexpr std::size_t kFewest = 20;
  static constexpr std::size_t kListed = 64;  // outliers whose numbers are kept, the newest

  explicit OutlierWatch(const OutlierLimits& limits) : limits_(limits) {}

  // None while fewer than kFewest were seen. The numbers rise.
  std::optional<OutlierTime> add(std::int64_t number, double seconds);
  // Of a time that is not added.
  std::optional<OutlierTime> judge(double seconds) const;

  std::size_t count() const { return count_; }
  std::size_t outliers() const { return outliers_; }
  double seconds() const { return seconds_; }  // of all that were judged
  double excess() const { return excess_; }    // of outliers above the median
  double median() const { return median_; }
  const std::deque<std::int64_t>& numbers() const { return numbers_; }
  // The distance at which most outliers come; 0: at no regular one.
  std::int64_t period() const;

 private:
  void learn();

  const OutlierLimits limits_;
  std::vector<double> times_;  // a ring, once it is full
  std::size_t oldest_ = 0;
  std::size_t until_learning_ = 0;
  double median_ = 0, deviation_ = 0;
  std::size_t count_ = 0, outliers_ = 0;
  double seconds_ = 0, excess_ = 0;
  std::deque<std::int64_t> numbers_;
};

}  // namespace trainwarden::rules
