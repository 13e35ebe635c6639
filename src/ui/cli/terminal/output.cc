#include "ui/cli/terminal/output.h"

#include <cerrno>
#include <cstring>

namespace trainwarden::cli {

// What a flush that failed has dropped is not found by the next one, but the stream remembers the failure.
Status flush_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return Status();
  const char* const why = errno != 0 ? std::strerror(errno) : "some of the output is lost";
  return Status(Code::kResourceExhausted, fmt::format("cannot write to standard output: {}", why));
}

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

void write_text(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace trainwarden::cli
