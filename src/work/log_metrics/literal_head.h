// The literal text that every match of a pattern begins with, as far as it can be read off the pattern.
#pragma once

#include <string>
#include <string_view>

namespace trainwarden::log_metrics {

struct LiteralHead {
  std::string text;       // "loss: " of "loss: ([0-9.]+)"; empty: none that can be told
  bool anchored = false;  // something before it says where it may stand: ^, \b, a look-behind
};

// Knows plain letters, escaped ones, and what may stand before them ("^", "\b", ".*", look-behinds). Where an
// alternative, an option or a group comes into it, the head ends, or is empty.
LiteralHead literal_head(std::string_view regex);

}  // namespace trainwarden::log_metrics
