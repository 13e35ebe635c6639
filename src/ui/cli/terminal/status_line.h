// StatusLine: one line at the foot of a terminal that is rewritten in place.
#pragma once

#include <cstdio>
#include <string_view>

#include "ui/cli/terminal/terminal.h"

namespace trainwarden::cli {

// Used by one thread.
class StatusLine {
 public:
  StatusLine(std::FILE* stream, const Terminal& terminal) : stream_(stream), terminal_(terminal) {}
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool interactive() const { return terminal_.interactive; }
  void show(std::string_view text);   // shortened to the terminal's width; nothing when nobody looks
  void print(std::string_view text);  // a line that stays, above the status line
  void clear();

 private:
  std::FILE* stream_;
  Terminal terminal_;
  bool shown_ = false;
};

// The first `width` code points.
std::string_view shorten(std::string_view utf8, int width);

}  // namespace trainwarden::cli
