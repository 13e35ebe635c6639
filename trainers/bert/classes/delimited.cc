#include "classes/delimited.h"

#include <stdexcept>

namespace bert {

DelimitedReader::DelimitedReader(std::string_view text, Delimited form, std::string source)
    : rest_(text),
      delimiter_(form == Delimited::kCsv ? ',' : '\t'),
      has_quotes_(form == Delimited::kCsv),
      source_(std::move(source)) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

bool DelimitedReader::next(std::vector<std::string>& fields) {
  while (take_line_end()) {
  }
  if (rest_.empty()) return false;
  fields.clear();
  row_line_ = line_;
  while (true) {
    fields.push_back(has_quotes_ && rest_.starts_with('"') ? quoted_field() : plain_field());
    if (rest_.empty() || take_line_end()) return true;
    rest_.remove_prefix(1);  // the delimiter
  }
}

void DelimitedReader::fail(const char* what) const {
  throw std::runtime_error(source_ + ", line " + std::to_string(row_line_) + ": " + what);
}

// Up to a delimiter or the end of the line, which stays.
std::string DelimitedReader::plain_field() {
  std::size_t end = 0;
  while (end < rest_.size() && rest_[end] != delimiter_ && rest_[end] != '\n' && !rest_.substr(end).starts_with("\r\n"))
    ++end;
  const std::string field(rest_.substr(0, end));
  rest_.remove_prefix(end);
  return field;
}

std::string DelimitedReader::quoted_field() {
  std::string field;
  while (true) {
    rest_.remove_prefix(1);  // the quote
    const std::size_t end = rest_.find('"');
    if (end == std::string_view::npos) fail("a field begins with a quote, and no quote ends it");
    for (const char c : rest_.substr(0, end)) line_ += c == '\n';
    field += rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    if (!rest_.starts_with('"')) break;
    field += '"';
  }
  const bool ends = rest_.empty() || rest_.front() == delimiter_ || rest_.front() == '\n' || rest_.starts_with("\r\n");
  if (!ends) fail("expected the field's end behind its last quote; a quote within a field in quotes is doubled");
  return field;
}

bool DelimitedReader::take_line_end() {
  const std::size_t size = rest_.starts_with('\n') ? 1 : rest_.starts_with("\r\n") ? 2 : 0;
  rest_.remove_prefix(size);
  line_ += size > 0;
  return size > 0;
}

}  // namespace bert
