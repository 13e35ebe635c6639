#include "core/process/output_tail.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "core/base/text.h"

namespace trainwarden::process {
namespace {

constexpr int kPartsAtOnce = 64;
constexpr std::size_t kMaxLines = 6;

}  // namespace

void OutputTail::read() {
  std::array<char, 4096> part{};
  for (int i = 0; open_ && i < kPartsAtOnce; ++i) {
    const ssize_t bytes = ::read(pipe_.get(), part.data(), part.size());
    if (bytes == 0) open_ = false;
    if (bytes <= 0) break;
    add(std::string_view(part.data(), static_cast<std::size_t>(bytes)));
  }
}

void OutputTail::add(std::string_view text) {
  text_.append(text);
  if (text_.size() / 2 > max_bytes_) text_.erase(0, text_.size() - max_bytes_);
}

std::string OutputTail::last_lines() const {
  std::string text = this->text();
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::vector<std::string> lines = split_list(text, '\n');
  if (lines.size() > kMaxLines) lines.erase(lines.begin(), lines.end() - kMaxLines);
  return printable(fmt::format("{}", fmt::join(lines, " / ")));
}

}  // namespace trainwarden::process
