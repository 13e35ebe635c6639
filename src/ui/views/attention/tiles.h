// One head of a long text as tiles: each level halves the one below it, level 0 has a pixel for each weight.
//
// Coarse levels are made of the whole matrix at once and remembered. Of fine levels, which would take too much memory,
// a strip of tiles is made when one of them is looked at.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ui/views/attention/run_attention.h"

namespace trainwarden::views::attention {

inline constexpr std::int64_t kTileSide = 256;
// Levels with up to this many rows and columns are remembered.
inline constexpr std::int64_t kMostKeptSide = 2048;

struct HeadPlace {
  std::int64_t layer = 0;
  std::int64_t head = 0;
  std::int64_t step = 0;
  std::int64_t item = 0;
  friend auto operator<=>(const HeadPlace&, const HeadPlace&) = default;
};

// Bytes as in pooling.h.
struct Plane {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::uint8_t> max;  // [rows, columns]
  std::vector<std::uint8_t> mean;
};

struct Pyramid {
  std::int64_t first_level = 0;
  std::vector<Plane> planes;  // of first_level and those above it
};

using TileStrip = Plane;  // up to kTileSide rows of a level, with all its columns

struct TileQuestion {
  std::int64_t layer = 0;
  std::int64_t head = 0;
  std::optional<std::int64_t> step{};
  std::int64_t item = 0;
  std::int64_t level = 0;
  std::int64_t row = 0;  // of tiles
  std::int64_t column = 0;
};

struct Tile {
  AttentionStep place;
  std::int64_t query_length = 0;
  std::int64_t key_length = 0;
  std::int64_t levels = 0;  // the last one fits into one tile
  Plane plane;
};

// kOutOfRange for a tile that is not there, kResourceExhausted for one that would take minutes.
Result<Tile> look_at_tile(const RunAttention& attention, const TileQuestion& question);

}  // namespace trainwarden::views::attention
