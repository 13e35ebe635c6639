#include "ui/cli/terminal/status_line.h"

#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {

std::string_view shorten(std::string_view utf8, int width) {
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const bool starts_code_point = (static_cast<unsigned char>(utf8[i]) & 0xc0) != 0x80;
    if (starts_code_point && width-- == 0) return utf8.substr(0, i);
  }
  return utf8;
}

void StatusLine::show(std::string_view text) {
  if (!terminal_.interactive) return;
  // One column stays free: a full line would make some terminals scroll.
  emit(stream_, "\r\x1b[K{}", shorten(printable(text), terminal_.columns - 1));
  std::fflush(stream_);
  shown_ = true;
}

void StatusLine::print(std::string_view text) {
  clear();
  emit(stream_, "{}\n", text);
  std::fflush(stream_);
}

void StatusLine::clear() {
  if (!shown_) return;
  emit(stream_, "\r\x1b[K");
  std::fflush(stream_);
  shown_ = false;
}

}  // namespace trainwarden::cli
