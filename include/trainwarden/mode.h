// Mode: which part of training a step belongs to.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "trainwarden/export.h"

namespace trainwarden {

// A program that never sets a mode is in kGlobal, and its steps have only a global number. In queries kGlobal means
// "by global step, whatever the mode". The numbers go to disk.
enum class Mode : std::uint8_t { kTrain = 1, kEval = 2, kPredict = 3, kGlobal = 4 };

inline constexpr std::array<Mode, 4> kAllModes = {Mode::kTrain, Mode::kEval, Mode::kPredict, Mode::kGlobal};

// From 0 to 3.
inline constexpr std::size_t index_of(Mode mode) {
  return static_cast<std::size_t>(mode) - 1;
}

TRAINWARDEN_API std::string_view name(Mode mode);                       // "train", "eval", "predict", "global"
TRAINWARDEN_API std::optional<Mode> parse_mode(std::string_view text);  // the same names, in any case

}  // namespace trainwarden
