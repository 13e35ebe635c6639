// A small harness for figures: ratios of things measured side by side, with a goal and with what limits them.
//
// Each <floor>_bench.cc defines benchmarks(); bench_main.cc selects them by name and prints. Why not Google Benchmark:
// docs/adr/0006-own-bench-harness.md.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::bench {

// The middle half of some repeated measurements.
struct Spread {
  double low = 0;  // lower quartile
  double median = 0;
  double high = 0;  // upper quartile
};
Spread spread_of(std::vector<double> samples);  // all 0 for no samples

// What a figure should be.
struct Goal {
  enum class Kind { kNone, kAtMost, kAtLeast };
  Kind kind = Kind::kNone;
  double bound = 0;

  bool met_by(double value) const;
  std::string to_string() const;  // "<= 100", ">= 0.6", "none"
};
Goal at_most(double bound);
Goal at_least(double bound);

// One line of output.
struct Figure {
  std::string name;  // "tensor.stats_vs_sum"; figures stated beside it are "tensor.stats_vs_sum.histogram"
  Spread value;
  std::string unit;  // "ns", "ms", "ratio", "%"
  Goal goal;
  std::string limit;  // what keeps the figure from being better: "memory read bandwidth"
};

struct Benchmark {
  std::string name;  // all of its figures have this name, or begin with it and a '.'
  std::function<Result<std::vector<Figure>>()> measure;
};

// Defined by each bench program.
std::vector<Benchmark> benchmarks();

// Nanoseconds of each arm in each round.
class PairedRuns {
 public:
  explicit PairedRuns(std::vector<std::vector<double>> ns_by_arm) : ns_by_arm_(std::move(ns_by_arm)) {}
  Spread ns(std::size_t arm) const { return spread_of(ns_by_arm_[arm]); }
  // Time of `arm` over time of `reference`, taken round by round: what disturbs a round disturbs both.
  Spread ratio(std::size_t arm, std::size_t reference) const;

 private:
  std::vector<std::vector<double>> ns_by_arm_;
};

// Runs every arm once a round, the first arm a different one each round, after one round that is not counted.
PairedRuns run_interleaved(int rounds, std::span<const std::function<void()>> arms);
// The same for arms that measure themselves and return nanoseconds.
PairedRuns measure_interleaved(int rounds, std::span<const std::function<double()>> arms);

template <class Function>
double elapsed_ns(Function&& function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

// Makes the compiler believe that `value` is used and that all memory may have changed.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

}  // namespace trainwarden::bench
