// Tables in text files: CSV and TSV, row by row.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bert {

enum class Delimited {
  kCsv,  // RFC 4180: a field in quotes may hold commas, lines and, doubled, quotes
  kTsv,  // quotes are characters as all others, as in published tables of reviews
};

// Rows of a text, which must live as long. A line ends with \n or \r\n; empty lines are passed over, and so is a byte
// order mark. One thread.
class DelimitedReader {
 public:
  // `source` names the text in messages.
  DelimitedReader(std::string_view text, Delimited form, std::string source);

  // The next row; false behind the last. Throws std::runtime_error that names the line: quotes that do not end, and
  // text behind them.
  bool next(std::vector<std::string>& fields);
  std::size_t line() const { return row_line_; }  // on which the row began that was read last, from 1

 private:
  [[noreturn]] void fail(const char* what) const;
  std::string plain_field();
  std::string quoted_field();
  bool take_line_end();

  std::string_view rest_;
  char delimiter_;
  bool has_quotes_;
  std::string source_;
  std::size_t line_ = 1, row_line_ = 0;
};

}  // namespace bert
