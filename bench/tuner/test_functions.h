// Functions whose minimum is known, to search on: the usual ones, also shifted and rotated.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainwarden::bench {

// f(x) is the function's own at best + R (x - t), where R is a random rotation and t a random place of the minimum in
// the middle 80 % of the box. regret.py has the same functions and draws the same numbers.
class SearchedFunction {
 public:
  // "branin", "hartmann6", "ackley5", "rosenbrock4", "levy5"; others: none. Without a seed neither shifted nor rotated.
  static std::optional<SearchedFunction> make(std::string_view name, std::optional<std::uint64_t> shift_seed);

  std::size_t dimensions() const { return best_.size(); }
  double low(std::size_t i) const { return low_[i]; }
  double high(std::size_t i) const { return high_[i]; }
  double value(std::span<const double> x) const;
  double regret(std::span<const double> x) const;  // value above the minimum

 private:
  using Formula = double (*)(std::span<const double>);
  SearchedFunction() = default;
  void shift(std::uint64_t seed);

  Formula formula_ = nullptr;
  std::vector<double> low_, high_;
  std::vector<double> best_;  // of the formula
  std::vector<double> place_;
  std::vector<double> rotation_;  // by rows; empty: none
};

}  // namespace trainwarden::bench
