#include "trainwarden/mode.h"

#include "core/base/text.h"

namespace trainwarden {

std::string_view name(Mode mode) {
  switch (mode) {
    case Mode::kTrain: return "train";
    case Mode::kEval: return "eval";
    case Mode::kPredict: return "predict";
    case Mode::kGlobal: return "global";
  }
  return "unknown mode";
}

std::optional<Mode> parse_mode(std::string_view text) {
  const std::string wanted = lower(text);
  for (Mode mode : kAllModes) {
    if (name(mode) == wanted) return mode;
  }
  return std::nullopt;
}

}  // namespace trainwarden
