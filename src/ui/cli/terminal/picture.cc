#include "ui/cli/terminal/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

struct Rgb {
  int red = 0;
  int green = 0;
  int blue = 0;
};

constexpr Rgb kDark{26, 26, 30};
constexpr Rgb kLight{246, 246, 246};
constexpr Rgb kNegative{70, 150, 255};
constexpr Rgb kPositive{255, 150, 50};
constexpr Rgb kNan{255, 0, 255};
constexpr Rgb kPositiveInfinity{255, 255, 255};
constexpr Rgb kNegativeInfinity{120, 120, 120};
constexpr const char* kReset = "\x1b[0m";

// The finite values that are shown, and what else there is.
struct Scale {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool has_nan = false;
  bool has_infinity = false;

  bool any() const { return low <= high; }
  bool crosses_zero() const { return low < 0 && high > 0; }
  double magnitude() const { return std::max(-low, high); }
  // Where `value` lies between low (0) and high (1).
  double fraction(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

Scale scale_of(const Raster& raster) {
  Scale scale;
  for (const Cell& cell : raster.cells) {
    switch (cell.kind) {
      case CellKind::kValue:
        scale.low = std::min(scale.low, cell.value);
        scale.high = std::max(scale.high, cell.value);
        break;
      case CellKind::kNan: scale.has_nan = true; break;
      case CellKind::kPositiveInfinity:
      case CellKind::kNegativeInfinity: scale.has_infinity = true; break;
      case CellKind::kGap: break;
    }
  }
  return scale;
}

Rgb blend(const Rgb& from, const Rgb& to, double fraction) {
  const auto channel = [fraction](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * fraction)); };
  return {channel(from.red, to.red), channel(from.green, to.green), channel(from.blue, to.blue)};
}

Rgb color_of(const Cell& cell, const Scale& scale) {
  switch (cell.kind) {
    case CellKind::kNan: return kNan;
    case CellKind::kPositiveInfinity: return kPositiveInfinity;
    case CellKind::kNegativeInfinity: return kNegativeInfinity;
    case CellKind::kGap: return {};
    case CellKind::kValue: break;
  }
  if (!scale.crosses_zero()) return blend(kDark, kLight, scale.fraction(cell.value));
  const double strength = std::abs(cell.value) / scale.magnitude();
  return blend(kDark, cell.value < 0 ? kNegative : kPositive, strength);
}

// The nearest colour of the 6 x 6 x 6 cube that 256-colour terminals have at 16 to 231.
int nearest_of_256(const Rgb& color) {
  constexpr std::array<int, 6> kLevels = {0, 95, 135, 175, 215, 255};
  const auto level = [&](int channel) {
    const auto nearer = [channel](int a, int b) { return std::abs(a - channel) < std::abs(b - channel); };
    return static_cast<int>(std::min_element(kLevels.begin(), kLevels.end(), nearer) - kLevels.begin());
  };
  return 16 + 36 * level(color.red) + 6 * level(color.green) + level(color.blue);
}

// The escape sequence that sets the colour of the character (38) or of its background (48).
std::string set_color(int target, const Rgb& color, ColorDepth depth) {
  if (depth == ColorDepth::k256) return fmt::format("\x1b[{};5;{}m", target, nearest_of_256(color));
  return fmt::format("\x1b[{};2;{};{};{}m", target, color.red, color.green, color.blue);
}

std::string half_blocks(const Cell& upper, const Cell& lower, const Scale& scale, ColorDepth depth) {
  const bool has_upper = upper.kind != CellKind::kGap;
  const bool has_lower = lower.kind != CellKind::kGap;
  if (!has_upper && !has_lower) return " ";
  if (!has_upper) return set_color(38, color_of(lower, scale), depth) + "▄" + kReset;
  if (!has_lower) return set_color(38, color_of(upper, scale), depth) + "▀" + kReset;
  return set_color(38, color_of(upper, scale), depth) + set_color(48, color_of(lower, scale), depth) + "▀" + kReset;
}

std::string render_half_blocks(const Raster& raster, const Scale& scale, ColorDepth depth) {
  std::string text;
  for (int row = 0; row < raster.rows; row += 2) {
    for (int column = 0; column < raster.columns; ++column) {
      const Cell lower = row + 1 < raster.rows ? raster.at(row + 1, column) : Cell{};
      text += half_blocks(raster.at(row, column), lower, scale, depth);
    }
    text += '\n';
  }
  return text;
}

// '\0' for a value or a gap.
char special_letter(CellKind kind) {
  switch (kind) {
    case CellKind::kNan: return 'N';
    case CellKind::kPositiveInfinity: return '+';
    case CellKind::kNegativeInfinity: return '-';
    case CellKind::kValue:
    case CellKind::kGap: break;
  }
  return '\0';
}

// The step of a ramp that `value` falls on.
std::size_t ramp_index(double value, const Scale& scale, std::size_t ramp_size) {
  const auto last = static_cast<double>(ramp_size - 1);
  return static_cast<std::size_t>(std::lround(scale.fraction(value) * last));
}

char grey_letter(const Cell& cell, const Scale& scale) {
  constexpr std::string_view kRamp = ".:~=o*%#@";
  if (const char special = special_letter(cell.kind)) return special;
  return cell.kind == CellKind::kGap ? ' ' : kRamp[ramp_index(cell.value, scale, kRamp.size())];
}

std::string render_greys(const Raster& raster, const Scale& scale) {
  std::string text;
  for (int row = 0; row < raster.rows; ++row) {
    std::string line;
    for (int column = 0; column < raster.columns; ++column) line.append(2, grey_letter(raster.at(row, column), scale));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string labelled_cell(const Cell& cell, const Scale& scale, ColorDepth depth) {
  if (cell.kind == CellKind::kGap) return "  ";
  if (depth == ColorDepth::kNone) return std::string(2, grey_letter(cell, scale));
  return set_color(48, color_of(cell, scale), depth) + "  " + kReset;
}

// The numbers of the columns, one below the other's digits: tens and ones, hundreds where there are some.
std::string column_numbers(int columns, std::size_t indent) {
  std::string text;
  for (int unit = columns > 100 ? 100 : columns > 10 ? 10 : 1; unit > 0; unit /= 10) {
    text += std::string(indent, ' ');
    for (int column = 0; column < columns; ++column) {
      const bool is_shown = unit == 1 || (column >= unit && column % unit == 0);
      text += is_shown ? fmt::format("{} ", column / unit % 10) : "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::string range_phrase(const Scale& scale, bool colored) {
  if (!scale.any()) return "no finite value";
  const std::string low = format_number(scale.low);
  const std::string high = format_number(scale.high);
  if (!colored) return fmt::format(". is {}, @ is {}", low, high);
  if (scale.crosses_zero()) return fmt::format("blue {}, dark 0, orange {}", low, high);
  return fmt::format("dark {}, light {}", low, high);
}

std::string legend(const Raster& raster, const Scale& scale, bool colored) {
  std::vector<std::string> phrases = {range_phrase(scale, colored)};
  if (scale.has_nan) phrases.push_back(colored ? "magenta is NaN" : "NN is NaN");
  if (scale.has_infinity)
    phrases.push_back(colored ? "white is +Infinity, grey -Infinity" : "++ and -- are infinities");
  if (!raster.note.empty()) phrases.push_back(raster.note);
  return fmt::format("{}\n", fmt::join(phrases, "; "));
}

std::string bar(const Cell& cell, const Scale& scale, bool unicode) {
  static constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::string_view kLetters = "_.-~=+*#";
  switch (cell.kind) {
    case CellKind::kNan: return "!";
    case CellKind::kPositiveInfinity: return "^";
    case CellKind::kNegativeInfinity: return "v";
    case CellKind::kGap: return " ";
    case CellKind::kValue: break;
  }
  const std::size_t index = ramp_index(cell.value, scale, kBars.size());
  return unicode ? std::string(kBars[index]) : std::string(1, kLetters[index]);
}

std::string bar_legend(const Raster& raster, const Scale& scale) {
  std::vector<std::string> phrases;
  phrases.push_back(scale.any()
                        ? fmt::format("lowest {}, highest {}", format_number(scale.low), format_number(scale.high))
                        : "no finite value");
  if (scale.has_nan) phrases.push_back("! is NaN");
  if (scale.has_infinity) phrases.push_back("^ and v are infinities");
  if (!raster.note.empty()) phrases.push_back(raster.note);
  return fmt::format("{}\n", fmt::join(phrases, "; "));
}

}  // namespace

PictureSize picture_size(const Terminal& terminal) {
  constexpr int kRows = 40;
  const bool colored = terminal.unicode && terminal.colors != ColorDepth::kNone;
  const int columns = std::max(1, colored ? terminal.columns : terminal.columns / 2);
  return {kRows, std::min(columns, 120)};
}

std::string render_picture(const Raster& raster, const Terminal& terminal) {
  if (raster.cells.empty()) return "";
  const Scale scale = scale_of(raster);
  const bool colored = terminal.unicode && terminal.colors != ColorDepth::kNone;
  return (colored ? render_half_blocks(raster, scale, terminal.colors) : render_greys(raster, scale)) +
         legend(raster, scale, colored);
}

std::string render_labelled(const Raster& raster, const std::vector<std::string>& labels, const Terminal& terminal) {
  if (raster.cells.empty()) return "";
  const Scale scale = scale_of(raster);
  const bool colored = terminal.unicode && terminal.colors != ColorDepth::kNone;
  std::size_t width = 0;
  for (const std::string& label : labels) width = std::max(width, text_width(label));
  std::string text = column_numbers(raster.columns, width + 1);
  for (int row = 0; row < raster.rows; ++row) {
    const std::string& label = labels[static_cast<std::size_t>(row)];
    text += std::string(width - text_width(label), ' ') + label + ' ';
    for (int column = 0; column < raster.columns; ++column) {
      text += labelled_cell(raster.at(row, column), scale, colored ? terminal.colors : ColorDepth::kNone);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text + legend(raster, scale, colored);
}

std::string render_bar(double fraction, int width, const Terminal& terminal) {
  if (!(fraction > 0)) return "";
  std::string bar;
  const double cells = std::min(fraction, 1.0) * width;
  for (int cell = 0; cell < static_cast<int>(cells); ++cell) bar += terminal.unicode ? "█" : "#";
  if (terminal.unicode && cells - std::floor(cells) >= 0.5) bar += "▌";
  return bar;
}

std::string render_sparkline(const Raster& raster, const Terminal& terminal) {
  if (raster.cells.empty()) return "";
  const Scale scale = scale_of(raster);
  std::string text;
  for (int column = 0; column < raster.columns; ++column) text += bar(raster.at(0, column), scale, terminal.unicode);
  return text + '\n' + bar_legend(raster, scale);
}

}  // namespace trainwarden::cli
