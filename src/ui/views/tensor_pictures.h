// Parts of a tensor as grey pictures, of many steps at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"
#include "ui/views/shelf.h"

namespace trainwarden::views {

// How several elements become one pixel.
enum class Pooling : std::uint8_t {
  kMean,
  kMax,  // the one farthest from zero, with its sign
};

struct PictureChoice {
  std::vector<std::int64_t> steps;  // global
  std::string slice;                // keeps two dimensions, height and width; or three: rows of pictures first
  std::vector<std::int64_t> axes;   // the kept ones in that order; empty: theirs
  std::string worker;               // empty: the first that has it
  int size = 64;                    // most pixels a side
  Pooling pooling = Pooling::kMean;
};

// The nearest step with what is needed, in place of one without it.
struct InsteadOf {
  std::int64_t asked = 0;
  std::int64_t shown = 0;
};

inline constexpr std::int64_t kMostPixels = 1 << 24;  // of an answer

// Pixel 0 is NaN; 1 to 255 stand for the numbers from `low` to `high` of the picture: low + (pixel - 1) / 254 x
// (high - low). Infinities are at the ends. Each picture has a scale of its own, so that who looks may choose any.
struct Pictures {
  std::vector<std::int64_t> steps;     // that are shown
  std::vector<InsteadOf> instead;      // steps at which the tensor was not kept whole
  std::vector<std::int64_t> left_out;  // steps that cannot be read, or of another shape
  std::string why_left_out;            // the first of them
  std::int64_t rows = 0;
  std::int64_t full_height = 0;  // in elements
  std::int64_t full_width = 0;
  std::int64_t height = 0;  // in pixels
  std::int64_t width = 0;
  std::vector<std::uint8_t> pixels;  // rows x steps x height x width
  // rows x steps each; NaN where no element is finite
  std::vector<double> low;
  std::vector<double> high;
  std::vector<double> nans;  // elements
  std::vector<double> infs;
  std::string slice;  // as it was understood
};

// Of a step without the value the nearest that has it is shown, each once. The tensor's shape is that at the first of
// them. kInvalidArgument, kOutOfRange when no step has a value, kResourceExhausted for more than kMostPixels.
Result<Pictures> tensor_pictures(OpenRun::Use& use, std::string_view tensor, const PictureChoice& choice);

}  // namespace trainwarden::views
