#include "test_functions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trainwarden::bench {
namespace {

using std::numbers::pi;

double branin(std::span<const double> x) {
  const double bend = x[1] - 5.1 / (4 * pi * pi) * x[0] * x[0] + 5 / pi * x[0] - 6;
  return bend * bend + 10 * (1 - 1 / (8 * pi)) * std::cos(x[0]) + 10;
}

double hartmann6(std::span<const double> x) {
  constexpr double kHeights[4] = {1.0, 1.2, 3.0, 3.2};
  constexpr double kScales[4][6] = {
      {10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14}};
  constexpr double kPlaces[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                    {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                    {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                                    {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    double exponent = 0;
    for (int j = 0; j < 6; ++j) {
      const double away = x[static_cast<std::size_t>(j)] - kPlaces[i][j];
      exponent += kScales[i][j] * away * away;
    }
    sum -= kHeights[i] * std::exp(-exponent);
  }
  return sum;
}

double ackley(std::span<const double> x) {
  double squares = 0, cosines = 0;
  for (const double each : x) {
    squares += each * each;
    cosines += std::cos(2 * pi * each);
  }
  const auto n = static_cast<double>(x.size());
  return -20 * std::exp(-0.2 * std::sqrt(squares / n)) - std::exp(cosines / n) + 20 + std::numbers::e;
}

double rosenbrock(std::span<const double> x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double bend = x[i + 1] - x[i] * x[i];
    sum += 100 * bend * bend + (1 - x[i]) * (1 - x[i]);
  }
  return sum;
}

double levy(std::span<const double> x) {
  const auto w = [&](std::size_t i) { return 1 + (x[i] - 1) / 4; };
  const auto squared = [](double value) { return value * value; };
  double sum = squared(std::sin(pi * w(0)));
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    sum += squared(w(i) - 1) * (1 + 10 * squared(std::sin(pi * w(i) + 1)));
  }
  const double last = w(x.size() - 1);
  return sum + squared(last - 1) * (1 + squared(std::sin(2 * pi * last)));
}

// splitmix64, and normal numbers by Box and Muller: short enough to be written twice.
class ShiftNumbers {
 public:
  explicit ShiftNumbers(std::uint64_t seed) : state_(seed) {}
  double uniform() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  double normal() {
    const double length = std::sqrt(-2 * std::log(1 - uniform()));
    return length * std::cos(2 * pi * uniform());
  }

 private:
  std::uint64_t state_;
};

// By Gram and Schmidt: rows of n by n.
std::vector<double> random_rotation(std::size_t n, ShiftNumbers& numbers) {
  std::vector<double> rows(n * n);
  for (double& each : rows) each = numbers.normal();
  for (std::size_t i = 0; i < n; ++i) {
    double* const row = &rows[i * n];
    for (std::size_t j = 0; j < i; ++j) {
      double product = 0;
      for (std::size_t k = 0; k < n; ++k) product += row[k] * rows[j * n + k];
      for (std::size_t k = 0; k < n; ++k) row[k] -= product * rows[j * n + k];
    }
    double squares = 0;
    for (std::size_t k = 0; k < n; ++k) squares += row[k] * row[k];
    for (std::size_t k = 0; k < n; ++k) row[k] /= std::sqrt(squares);
  }
  return rows;
}

}  // namespace

std::optional<SearchedFunction> SearchedFunction::make(std::string_view name, std::optional<std::uint64_t> shift_seed) {
  SearchedFunction made;
  const auto set = [&](Formula formula, std::size_t n, double low, double high, double best) {
    made.formula_ = formula;
    made.low_.assign(n, low);
    made.high_.assign(n, high);
    made.best_.assign(n, best);
  };
  if (name == "branin") {
    set(branin, 2, -5, 10, pi);
    made.low_[1] = 0, made.high_[1] = 15, made.best_[1] = 2.275;
  } else if (name == "hartmann6") {
    set(hartmann6, 6, 0, 1, 0);
    made.best_ = {0.20168951265373836, 0.15001069352077226, 0.4768739729250998,
                  0.2753324304940561,  0.31165161660077114, 0.6573005340653495};
  } else if (name == "ackley5") {
    set(ackley, 5, -25.468, 40.068, 0);
  } else if (name == "rosenbrock4") {
    set(rosenbrock, 4, -5, 10, 1);
  } else if (name == "levy5") {
    set(levy, 5, -10, 10, 1);
  } else {
    return std::nullopt;
  }
  if (shift_seed) made.shift(*shift_seed);
  return made;
}

void SearchedFunction::shift(std::uint64_t seed) {
  ShiftNumbers numbers(seed);
  for (std::size_t i = 0; i < dimensions(); ++i) {
    place_.push_back(low_[i] + (0.1 + 0.8 * numbers.uniform()) * (high_[i] - low_[i]));
  }
  rotation_ = random_rotation(dimensions(), numbers);
}

double SearchedFunction::value(std::span<const double> x) const {
  if (rotation_.empty()) return formula_(x);
  std::vector<double> turned = best_;
  for (std::size_t i = 0; i < turned.size(); ++i) {
    for (std::size_t k = 0; k < turned.size(); ++k) turned[i] += rotation_[i * turned.size() + k] * (x[k] - place_[k]);
  }
  return formula_(turned);
}

double SearchedFunction::regret(std::span<const double> x) const {
  return std::max(0.0, value(x) - formula_(best_));
}

}  // namespace trainwarden::bench
