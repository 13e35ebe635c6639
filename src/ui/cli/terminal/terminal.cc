#include "ui/cli/terminal/terminal.h"

#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/text.h"

namespace trainwarden::cli {
namespace {

std::string_view text_of(const char* value) {
  return value ? std::string_view(value) : std::string_view();
}

ColorDepth color_depth(const Environment& environment) {
  if (!text_of(environment("NO_COLOR")).empty()) return ColorDepth::kNone;
  const std::string_view color_term = text_of(environment("COLORTERM"));
  if (color_term == "truecolor" || color_term == "24bit") return ColorDepth::kTrueColor;
  const std::string_view term = text_of(environment("TERM"));
  return term.find("256color") != std::string_view::npos ? ColorDepth::k256 : ColorDepth::kNone;
}

// A locale that is not set says nothing; terminals of today speak UTF-8.
bool speaks_utf8(const Environment& environment) {
  if (text_of(environment("TERM")) == "dumb") return false;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = lower(text_of(environment(name)));
    if (locale.empty()) continue;
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return true;
}

}  // namespace

Terminal describe_terminal(bool interactive, int columns, const Environment& environment) {
  Terminal terminal;
  terminal.interactive = interactive;
  if (columns > 0) terminal.columns = columns;
  if (!interactive) return terminal;
  terminal.unicode = speaks_utf8(environment);
  terminal.colors = color_depth(environment);
  return terminal;
}

Terminal terminal_of(std::FILE* stream) {
  const int descriptor = fileno(stream);
  winsize size{};
  const bool has_size = ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  return describe_terminal(isatty(descriptor) == 1, has_size ? size.ws_col : 0, process_environment);
}

}  // namespace trainwarden::cli
