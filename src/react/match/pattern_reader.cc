#include "react/match/pattern_reader.h"

#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/text_place.h"
#include "react/match/json_number.h"

namespace trainwarden::match {
namespace {

constexpr std::size_t kShownBytes = 40;

std::string shortened(std::string_view text) {
  return text.size() <= kShownBytes ? printable(text) : printable(text.substr(0, kShownBytes)) + "...";
}

}  // namespace

void PatternReader::enter_field(std::string_view name) {
  path_.push_back((path_.empty() ? "" : ".") + shortened(name));
}

void PatternReader::enter_item(std::size_t index) {
  path_.push_back(fmt::format("[{}]", index));
}

std::string PatternReader::path() const {
  std::string path;
  for (const std::string& part : path_) path += part;
  return path;
}

Status PatternReader::error_at(std::size_t offset, std::string_view why) const {
  const std::string on_path = path();
  const std::string place = line_and_column(text_, offset);
  return Status(Code::kInvalidArgument,
                on_path.empty() ? fmt::format("{}: {}", place, why) : fmt::format("{} ({}): {}", on_path, place, why));
}

bool PatternReader::refuse(std::size_t offset, std::string_view why) {
  if (!failed()) error_ = error_at(offset, why);
  return false;
}

bool PatternReader::expected_at(std::size_t offset, std::string_view what, std::string_view found) {
  return refuse(offset, fmt::format("expected {}, found {}", what, found));
}

bool PatternReader::explain(std::string_view hint) {
  if (!error_.ok()) error_ = Status(error_.code(), fmt::format("{}; {}", error_.message(), hint));
  return false;
}

bool PatternReader::expected(std::string_view what) {
  scanner_.peek();
  return expected_at(scanner_.offset(), what, next_value());
}

std::string PatternReader::next_value() const {
  JsonScanner ahead = scanner_;
  switch (ahead.peek()) {
    case '{': return "an object";
    case '[': return "an array";
    case '\0': return "the end";
    default: break;
  }
  const std::size_t begin = ahead.offset();
  if (!ahead.skip_value()) return fmt::format("`{}`", printable(text_.substr(begin, 1)));
  return shortened(text_.substr(begin, ahead.offset() - begin));
}

Status PatternReader::status() const {
  return error_.ok() && scanner_.failed() ? error_at(scanner_.offset(), scanner_.reason()) : error_;
}

bool PatternReader::read_text(std::string_view what, std::string& text) {
  if (failed()) return false;
  if (scanner_.peek() != '"') return expected(what);
  RawString raw;
  if (!scanner_.read_string(raw)) return false;
  std::string storage;
  text = decoded(raw, storage);
  return true;
}

bool PatternReader::read_number(std::string_view what, double& number) {
  if (failed()) return false;
  const char next = scanner_.peek();
  if (next != '-' && (next < '0' || next > '9')) return expected(what);
  const std::size_t begin = scanner_.offset();
  std::string_view text;
  if (!scanner_.read_number(text)) return false;
  number = number_of(text);
  if (!std::isinf(number)) return true;
  return expected_at(begin, "a number of at most 1.7976931348623157e308", shortened(text));
}

bool PatternReader::read_field(std::string& name, std::size_t& offset) {
  scanner_.peek();
  offset = scanner_.offset();
  RawString raw;
  if (!scanner_.read_key(raw)) return false;
  std::string storage;
  name = decoded(raw, storage);
  return true;
}

}  // namespace trainwarden::match
