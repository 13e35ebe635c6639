#include "ui/cli/terminal/table.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"

namespace trainwarden::cli {

void Table::add_row(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = text_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, text_width(row[i]));
    widths.push_back(width);
  }
  return widths;
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string blanks(widths[i] - text_width(cells[i]), ' ');
    if (i > 0) line += "  ";
    line += columns_[i].align == Align::kLeft ? cells[i] + blanks : blanks + cells[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string Table::to_string() const {
  const std::vector<std::size_t> column_widths = widths();
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string text = line(titles, column_widths);
  for (const auto& row : rows_) text += line(row, column_widths);
  return text;
}

std::size_t text_width(std::string_view utf8) {
  const auto starts_code_point = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), starts_code_point));
}

std::string format_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{:.6g}", value);
}

std::string format_steps(const std::vector<std::int64_t>& steps) {
  constexpr std::size_t kShown = 8;
  if (steps.size() <= kShown) return fmt::format("{}", fmt::join(steps, ", "));
  return fmt::format("{}, ... {} ({})", fmt::join(steps.begin(), steps.begin() + 3, ", "), steps.back(), steps.size());
}

}  // namespace trainwarden::cli
