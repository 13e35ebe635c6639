// The catalogue of causes: each with its name, a title, the next step, and what follows from it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace trainwarden::diagnosis {

struct Cause {
  std::string_view name;
  std::string_view title;                  // "the learning rate is too high"
  std::string_view next_step;              // one sentence
  std::string_view source;                 // where the class of faults is described
  std::vector<std::string_view> explains;  // causes that are its consequences
};

std::span<const Cause> causes();
const Cause* find_cause(std::string_view name);

// One measurement that would tell these two causes apart; nothing when none is known.
std::string_view what_tells_apart(std::string_view one, std::string_view other);

}  // namespace trainwarden::diagnosis
