// The frame of `trainwarden top`: facts of a run laid out on a screen.
#pragma once

#include <cstddef>

#include "ui/cli/reports/top_facts.h"
#include "ui/cli/terminal/screen.h"

namespace trainwarden::cli {

// What the user chose to see.
struct TopChoice {
  std::size_t loss = 0;       // the one that is drawn large; taken modulo their number
  bool several_runs = false;  // the keys lead to others
  bool keys = true;           // there is somebody to press them
};

inline constexpr int kTopRows = 24, kTopColumns = 80;  // what the frame is made for, at least

// A screen that is too small for anything says so.
Screen top_frame(const TopFacts& facts, const TopChoice& choice, int rows, int columns, bool unicode);

// The same in one line, for pipes: "step 120 (train 100)  34.2 steps/s  loss 0.412  rules: 2 ok, ExplodingTensor
// fired".
std::string top_line(const TopFacts& facts);

}  // namespace trainwarden::cli
