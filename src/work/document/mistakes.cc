#include "work/document/mistakes.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace trainwarden::document {

namespace {

// 7 of "job.toml, line 7"; 0 when the place has no line, as in JSON.
int line_of(std::string_view place) {
  constexpr std::string_view kBefore = ", line ";
  const std::size_t at = place.rfind(kBefore);
  int line = 0;
  if (at != std::string_view::npos) std::from_chars(place.data() + at + kBefore.size(), place.end(), line);
  return line;
}

// Of "inputs" or "tags[2]", what a message calls it.
std::string_view without_number(std::string_view name) {
  return name.substr(0, name.find('['));
}

}  // namespace

std::string text_of(const Mistake& mistake) {
  const std::string_view place = mistake.place;
  std::string_view what = mistake.what;
  const std::size_t comma = place.rfind(", ");
  std::string_view path = comma == std::string_view::npos ? std::string_view() : place.substr(comma + 2);
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    const std::string said = fmt::format("{}: ", without_number(path.substr(0, end)));
    if (what.starts_with(said)) what.remove_prefix(said.size());
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return fmt::format("{}: {}", place, what);
}

void Mistakes::add(std::string_view place, std::string_view what) {
  if (++count_ > kMaxListed) return;
  const auto is_before = [](int line, const Mistake& other) { return line < line_of(other.place); };
  const auto at = std::upper_bound(listed_.begin(), listed_.end(), line_of(place), is_before);
  listed_.insert(at, {std::string(place), std::string(what)});
}

Status Mistakes::status() const {
  if (!any()) return {};
  std::string text;
  for (const Mistake& mistake : listed_) {
    text += fmt::format("{}{}", text.empty() ? "" : "\n", text_of(mistake));
  }
  if (count_ > listed_.size()) text += fmt::format("\nand {} more", count_ - listed_.size());
  return Status(Code::kInvalidArgument, std::move(text));
}

}  // namespace trainwarden::document
