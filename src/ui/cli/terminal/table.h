// Table: rows of text in aligned columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainwarden::cli {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

// Cells go through printable().
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add_row(std::vector<std::string> cells);  // as many cells as columns
  bool empty() const { return rows_.empty(); }
  std::string to_string() const;  // titles and rows, each line ended; no blanks at the ends of lines

 private:
  std::vector<std::size_t> widths() const;
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// How many code points a UTF-8 text has: its width on a terminal, as far as we use it.
std::size_t text_width(std::string_view utf8);

// A number for people: 6 significant digits, "NaN", "Infinity", "-Infinity".
std::string format_number(double value);

// Integers in few words: "0, 10, 20, ... 500 (51)".
std::string format_steps(const std::vector<std::int64_t>& steps);

}  // namespace trainwarden::cli
