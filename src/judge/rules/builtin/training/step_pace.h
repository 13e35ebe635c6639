// StepPace: how long the steps of a run take, from the last thousand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainwarden::rules {

// Holds at most kRemembered times between steps.
class StepPace {
 public:
  static constexpr std::size_t kRemembered = 1000;

  // A step ended at this time; 0 when that is not known. Steps come in rising order.
  void add(std::int64_t ended_unix_ns);

  std::size_t size() const { return seconds_.size(); }  // times between steps
  double median() const { return quantile(0.5); }       // seconds; 0 when there are none
  double quantile(double share) const;                  // nearest rank

 private:
  std::vector<double> seconds_;  // a ring, once it is full
  std::size_t oldest_ = 0;
  std::int64_t last_unix_ns_ = 0;
};

}  // namespace trainwarden::rules
