#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {

std::string printable_lines(std::string_view text, std::string_view indent) {
  std::string lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines += printable(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    lines += '\n';
    text.remove_prefix(end + 1);
    if (!text.starts_with(indent)) lines += indent;
  }
}

}  // namespace trainwarden::cli
