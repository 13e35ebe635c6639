// Terminal: what a stream can show.
#pragma once

#include <cstdio>

#include "core/base/environment.h"

namespace trainwarden::cli {

enum class ColorDepth { kNone, k256, kTrueColor };

struct Terminal {
  bool interactive = false;  // a person looks at it
  bool unicode = false;      // block elements may be used
  ColorDepth colors = ColorDepth::kNone;
  int columns = 80;
};

// Colours only for a terminal that has them, and never when NO_COLOR is set (https://no-color.org).
Terminal describe_terminal(bool interactive, int columns, const Environment& environment);
Terminal terminal_of(std::FILE* stream);

}  // namespace trainwarden::cli
