// The learning rate of each step.
#pragma once

#include <cstdint>
#include <string>

namespace bert {

enum class Decay {
  kConstant,         // stays at its peak after the warm-up
  kLinear,           // falls to 0 from the end of the warm-up, as get_linear_schedule_with_warmup of Hugging Face
  kLinearFromStart,  // peak · (1 - t/N), as BERT's own code: measured from step 0, so it jumps down as warm-up ends
};

// "constant", "linear" and "linear_from_start". Throws std::runtime_error on other words, which names these.
Decay decay_from_name(const std::string& name);

struct Schedule {
  double peak = 5e-5;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;
  Decay decay = Decay::kLinear;

  // Throws std::runtime_error unless the peak is finite and not negative and 0 <= warmup_steps <= total_steps, 1 or
  // more.
  void check() const;
  // Of the step that `steps_done` have come before. While it warms up, peak · steps_done / warmup_steps: 0 in the
  // first. 0 from total_steps on, but for kConstant.
  double learning_rate(std::int64_t steps_done) const;
};

// Steps of a warm-up given as a part of all, cut as BERT's code cuts. Throws std::runtime_error outside [0, 1].
std::int64_t warmup_steps(double proportion, std::int64_t total_steps);

}  // namespace bert
