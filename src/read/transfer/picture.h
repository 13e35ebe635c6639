// Tensors as pictures, and pictures as PNG.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::transfer {

struct Picture {
  int width = 0;
  int height = 0;
  int channels = 1;                  // 1: grey, 3: RGB, 4: RGBA
  std::vector<std::uint8_t> pixels;  // row by row, a pixel's channels side by side
};

inline constexpr int kMostTiles = 64;
inline constexpr int kLargestSide = 1024;  // of a tile, in pixels

// [H,W], [C,H,W] and [N,C,H,W] with C 1, 3 or 4 are pictures of C channels; of other three and four dimensions each
// [H,W] is a grey one. Several lie in a grid, a pixel apart, by rows, at most kMostTiles. uint8 are pixels, bool black
// and white; other numbers are spread from the lowest finite one (black) to the highest; NaN is black. None for other
// shapes and types, for sides over kLargestSide, and without elements. `packed` is row-major.
std::optional<Picture> picture_of(const TensorView& packed);

// kInternal, kResourceExhausted.
Result<std::string> encode_png(const Picture& picture);

}  // namespace trainwarden::transfer
