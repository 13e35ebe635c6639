#include "ui/cli/terminal/screen.h"

#include <fmt/format.h>

#include "core/base/code_point.h"
#include "core/base/text.h"
#include "ui/cli/terminal/characters.h"

namespace trainwarden::cli {
namespace {

constexpr std::string_view kPlainInk = "\x1b[0m";

// Of the palette of 256: Okabe and Ito's colours, which people tell apart whatever colours they see, as near as it has.
int palette_color(Ink ink) {
  switch (ink) {
    case Ink::kPlain:
    case Ink::kStrong: return -1;
    case Ink::kDim: return 245;
    case Ink::kGood: return 36;
    case Ink::kBad: return 209;
    case Ink::kNote: return 74;
    case Ink::kSeries0: return 74;
    case Ink::kSeries1: return 214;
    case Ink::kSeries2: return 36;
    case Ink::kSeries3: return 175;
    case Ink::kSeries4: return 227;
    case Ink::kSeries5: return 209;
  }
  return -1;
}

std::string ink_sequence(const ScreenCell& cell, const Terminal& terminal) {
  std::string sequence = "\x1b[0";
  if (cell.ink == Ink::kStrong || cell.ink == Ink::kBad) sequence += ";1";
  if (cell.inverse) sequence += ";7";
  const int color = palette_color(cell.ink);
  if (color >= 0 && terminal.colors != ColorDepth::kNone) sequence += fmt::format(";38;5;{}", color);
  return sequence + "m";
}

bool same_look(const ScreenCell& a, const ScreenCell& b) {
  return a.ink == b.ink && a.inverse == b.inverse;
}

}  // namespace

Ink series_ink(int series) {
  return static_cast<Ink>(static_cast<int>(Ink::kSeries0) + series % kSeriesInks);
}

Screen::Screen(int rows, int columns)
    : rows_(rows), columns_(columns), cells_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {}

int Screen::put(int row, int column, std::string_view utf8, Ink ink, int most) {
  if (row < 0 || row >= rows_ || column < 0) return column;
  const int end = std::min(columns_, column + most);
  int last = -1;  // the cell that a joining character belongs to
  for (char32_t character : to_utf32(utf8)) {
    if (drives_terminal(character)) character = U'?';
    const int width = cell_width(character);
    if (width == 0) {
      if (last >= 0) cells_[index(row, last)].text += character;
      continue;
    }
    if (column + width > end) break;
    last = column;
    cells_[index(row, column)] = {std::u32string(1, character), ink, false};
    if (width == 2) cells_[index(row, column + 1)] = {U"", ink, false};
    column += width;
  }
  return column;
}

void Screen::put_right(int row, int end_column, std::string_view utf8, Ink ink) {
  put(row, std::max(0, end_column - text_cells(utf8)), utf8, ink);
}

void Screen::fill_row(int row, Ink ink, bool inverse) {
  if (row < 0 || row >= rows_) return;
  for (int column = 0; column < columns_; ++column) {
    ScreenCell& cell = cells_[index(row, column)];
    cell.ink = ink;
    cell.inverse = inverse;
  }
}

std::string Screen::to_text() const {
  return to_lines(Terminal{});
}

std::string Screen::to_lines(const Terminal& terminal) const {
  std::string lines;
  std::size_t kept = 0;
  for (int row = 0; row < rows_; ++row) {
    std::string line;
    std::size_t used = 0;  // up to the last cell that is not blank
    ScreenCell look;
    for (int column = 0; column < columns_; ++column) {
      const ScreenCell& cell = at(row, column);
      if (terminal.colors != ColorDepth::kNone && !same_look(cell, look)) line += ink_sequence(cell, terminal);
      look = cell;
      line += to_utf8(cell.text);
      if (cell.text != U" ") used = line.size();
    }
    line.resize(used);
    if (terminal.colors != ColorDepth::kNone && used > 0) line += kPlainInk;
    lines += line + "\n";
    if (used > 0) kept = lines.size();
  }
  lines.resize(kept);
  return lines;
}

std::string changes(const Screen* before, const Screen& after, const Terminal& terminal) {
  const bool anew = before == nullptr || before->rows_ != after.rows_ || before->columns_ != after.columns_;
  std::string bytes = anew ? "\x1b[0m\x1b[2J" : "";
  ScreenCell look;
  bool looks_plain = true;
  for (int row = 0; row < after.rows_; ++row) {
    int cursor = -1;  // the column where the next byte lands
    for (int column = 0; column < after.columns_; ++column) {
      const ScreenCell& cell = after.at(row, column);
      if (cell.text.empty()) continue;  // written with the one before
      const bool is_wide = column + 1 < after.columns_ && after.at(row, column + 1).text.empty();
      const bool same = !anew && before->at(row, column) == cell &&
                        (!is_wide || before->at(row, column + 1) == after.at(row, column + 1));
      if (same || (anew && cell == ScreenCell{})) continue;
      if (cursor != column) bytes += fmt::format("\x1b[{};{}H", row + 1, column + 1);
      if (looks_plain ? !same_look(cell, ScreenCell{}) : !same_look(cell, look)) bytes += ink_sequence(cell, terminal);
      look = cell;
      looks_plain = same_look(cell, ScreenCell{});
      bytes += to_utf8(cell.text);
      cursor = column + (is_wide ? 2 : 1);
    }
  }
  if (!looks_plain) bytes += kPlainInk;
  return bytes;
}

}  // namespace trainwarden::cli
