// Picture: a raster as text on a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/cli/terminal/raster.h"
#include "ui/cli/terminal/terminal.h"

namespace trainwarden::cli {

// How much room a picture may take, in raster cells.
struct PictureSize {
  int rows = 0;
  int columns = 0;
};
PictureSize picture_size(const Terminal& terminal);

// With colours: half blocks, two cells to a character, from blue (negative) over dark to orange (positive), or from
// dark to light when all values have one sign. Without: two characters a cell on a ramp from '.' (lowest) to '@'
// (highest). NaN is magenta or "NN", infinities are white and grey or "++" and "--". Ends with a line that explains the
// scale. Empty for an empty raster.
std::string render_picture(const Raster& raster, const Terminal& terminal);

// The same with a line for each row of the raster, two characters a cell: its label, then its cells. Above them stand
// the numbers of the columns. Labels are shown as they are, as many as rows.
std::string render_labelled(const Raster& raster, const std::vector<std::string>& labels, const Terminal& terminal);

// A number from 0 to 1 as a bar of up to `width` characters.
std::string render_bar(double fraction, int width, const Terminal& terminal);

// A vector as one line of bars; '!' is NaN, '^' and 'v' are infinities. Only the first row of the raster.
std::string render_sparkline(const Raster& raster, const Terminal& terminal);

}  // namespace trainwarden::cli
