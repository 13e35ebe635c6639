// Warm-up and decay of the learning rate.
#include "training/schedule.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bert {

Decay decay_from_name(const std::string& name) {
  if (name == "constant") return Decay::kConstant;
  if (name == "linear") return Decay::kLinear;
  if (name == "linear_from_start") return Decay::kLinearFromStart;
  throw std::runtime_error("A schedule is constant, linear or linear_from_start; found \"" + name + "\".");
}

void Schedule::check() const {
  if (!std::isfinite(peak) || peak < 0) {
    throw std::runtime_error("The learning rate must be a number that is not negative; found " + std::to_string(peak) +
                             ".");
  }
  if (total_steps < 1 || warmup_steps < 0 || warmup_steps > total_steps) {
    throw std::runtime_error("A schedule needs 1 step or more and a warm-up that is no longer; found " +
                             std::to_string(total_steps) + " steps with a warm-up of " + std::to_string(warmup_steps) +
                             ".");
  }
}

double Schedule::learning_rate(std::int64_t steps_done) const {
  const auto t = static_cast<double>(steps_done);
  const auto warmup = static_cast<double>(warmup_steps);
  const auto total = static_cast<double>(total_steps);
  if (steps_done < warmup_steps) return peak * t / warmup;
  switch (decay) {
    case Decay::kConstant: return peak;
    case Decay::kLinear: return peak * std::max(0.0, (total - t) / std::max(1.0, total - warmup));
    case Decay::kLinearFromStart: return peak * std::max(0.0, 1 - t / total);
  }
  return peak;
}

std::int64_t warmup_steps(double proportion, std::int64_t total_steps) {
  if (!(proportion >= 0 && proportion <= 1)) {
    throw std::runtime_error("The warm-up is a proportion from 0 to 1; found " + std::to_string(proportion) + ".");
  }
  return static_cast<std::int64_t>(static_cast<double>(total_steps) * proportion);
}

}  // namespace bert
