#include "ui/views/attention/tiles.h"

#include <algorithm>

#include <fmt/format.h>

#include "ui/views/attention/attention_caches.h"
#include "ui/views/attention/head_look.h"
#include "ui/views/attention/head_rows.h"
#include "ui/views/attention/pooling.h"

namespace trainwarden::views::attention {
namespace {

// No answer multiplies more often than this: some seconds of one core.
constexpr double kMostProducts = 4e10;
constexpr std::int64_t kTileBits = 8;
static_assert(std::int64_t{1} << kTileBits == kTileSide);

// How many blocks of 2^level make up `size`.
std::int64_t blocks(std::int64_t size, std::int64_t level) {
  return (size + (std::int64_t{1} << level) - 1) >> level;
}

std::int64_t level_within(std::int64_t length, std::int64_t side) {
  std::int64_t level = 0;
  while (blocks(length, level) > side) ++level;
  return level;
}

std::size_t bytes_of(const Plane& plane) {
  return sizeof(Plane) + plane.max.size() + plane.mean.size();
}

std::size_t bytes_of(const Pyramid& pyramid) {
  std::size_t bytes = sizeof(Pyramid);
  for (const Plane& plane : pyramid.planes) bytes += bytes_of(plane);
  return bytes;
}

// The largest and the sum of the weights of each block: what the next level is made of.
struct Blocks {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<float> max;
  std::vector<double> sum;

  Blocks(std::int64_t row_count, std::int64_t column_count)
      : rows(row_count),
        columns(column_count),
        max(static_cast<std::size_t>(row_count * column_count)),
        sum(static_cast<std::size_t>(row_count * column_count)) {}

  void add(std::int64_t row, std::int64_t column, float most, double total) {
    const auto at = static_cast<std::size_t>(row * columns + column);
    max[at] = std::max(max[at], most);
    sum[at] += total;
  }
};

// One row of weights into the row of blocks that it is part of; `row` counts from the first of these blocks.
void add_row(Blocks& into, std::int64_t row, std::int64_t level, std::span<const float> weights) {
  const std::int64_t block_row = row >> level;
  for (std::int64_t column = 0; column < into.columns; ++column) {
    const auto begin = static_cast<std::size_t>(column << level);
    const std::size_t end = std::min(weights.size(), static_cast<std::size_t>((column + 1) << level));
    float most = 0;
    double sum = 0;
    for (std::size_t key = begin; key < end; ++key) {
      const float weight = weights[key] > 0 ? weights[key] : 0;  // NaN counts as none
      most = std::max(most, weight);
      sum += static_cast<double>(weight);
    }
    into.add(block_row, column, most, sum);
  }
}

Blocks halve(const Blocks& below) {
  Blocks above(blocks(below.rows, 1), blocks(below.columns, 1));
  for (std::int64_t row = 0; row < below.rows; ++row) {
    for (std::int64_t column = 0; column < below.columns; ++column) {
      const auto at = static_cast<std::size_t>(row * below.columns + column);
      above.add(row / 2, column / 2, below.max[at], below.sum[at]);
    }
  }
  return above;
}

// `rows` and `columns` are those of the matrix that the blocks cover; blocks at its ends cover less.
Plane plane_of(const Blocks& from, std::int64_t level, std::int64_t rows, std::int64_t columns) {
  Plane plane{from.rows, from.columns, {}, {}};
  plane.max.reserve(from.max.size());
  plane.mean.reserve(from.sum.size());
  const std::int64_t side = std::int64_t{1} << level;
  for (std::int64_t row = 0; row < from.rows; ++row) {
    const std::int64_t height = std::min(side, rows - row * side);
    for (std::int64_t column = 0; column < from.columns; ++column) {
      const std::int64_t width = std::min(side, columns - column * side);
      const auto at = static_cast<std::size_t>(row * from.columns + column);
      plane.max.push_back(to_byte(static_cast<double>(from.max[at])));
      plane.mean.push_back(to_byte(from.sum[at] / static_cast<double>(height * width)));
    }
  }
  return plane;
}

// Rows [begin, end) of a head as one plane of `level`.
Blocks read_blocks(HeadRows& rows, std::int64_t begin, std::int64_t end, std::int64_t level) {
  Blocks all(blocks(end - begin, level), blocks(rows.key_length(), level));
  std::vector<float> weights(static_cast<std::size_t>(rows.key_length()));
  for (std::int64_t query = begin; query < end; ++query) {
    rows.read(query, weights);
    add_row(all, query - begin, level, weights);
  }
  return all;
}

Status check_work(const LayerValues& values, std::int64_t rows) {
  const double width = values.recomputed() ? static_cast<double>(values.map.head_size) : 1;
  const double products = static_cast<double>(rows) * static_cast<double>(values.key_length) * width;
  if (products <= kMostProducts) return {};
  return {Code::kResourceExhausted,
          fmt::format("{} rows of {} weights would take too long; look at a finer level, or at rows", rows,
                      values.key_length)};
}

Result<Pyramid> make_pyramid(const LayerValues& values, const HeadPlace& place, std::int64_t first_level,
                             std::int64_t levels) {
  TRAINWARDEN_RETURN_IF_ERROR(check_work(values, values.query_length));
  HeadRows rows(values, place.item, place.head);
  Pyramid pyramid{first_level, {}};
  Blocks level_blocks = read_blocks(rows, 0, values.query_length, first_level);
  for (std::int64_t level = first_level; level < levels; ++level) {
    if (level > first_level) level_blocks = halve(level_blocks);
    pyramid.planes.push_back(plane_of(level_blocks, level, values.query_length, values.key_length));
  }
  return pyramid;
}

Result<TileStrip> make_strip(const LayerValues& values, const HeadPlace& place, std::int64_t level,
                             std::int64_t tile_row) {
  const std::int64_t begin = (tile_row * kTileSide) << level;
  const std::int64_t end = std::min(values.query_length, ((tile_row + 1) * kTileSide) << level);
  TRAINWARDEN_RETURN_IF_ERROR(check_work(values, end - begin));
  HeadRows rows(values, place.item, place.head);
  return plane_of(read_blocks(rows, begin, end, level), level, end - begin, values.key_length);
}

Plane crop(const Plane& plane, std::int64_t first_row, std::int64_t first_column) {
  Plane cut{std::min(kTileSide, plane.rows - first_row), std::min(kTileSide, plane.columns - first_column), {}, {}};
  for (std::int64_t row = 0; row < cut.rows; ++row) {
    const auto begin = static_cast<std::ptrdiff_t>((first_row + row) * plane.columns + first_column);
    const auto end = begin + static_cast<std::ptrdiff_t>(cut.columns);
    cut.max.insert(cut.max.end(), plane.max.begin() + begin, plane.max.begin() + end);
    cut.mean.insert(cut.mean.end(), plane.mean.begin() + begin, plane.mean.begin() + end);
  }
  return cut;
}

}  // namespace

Result<Tile> look_at_tile(const RunAttention& attention, const TileQuestion& question) {
  Tile tile;
  TRAINWARDEN_ASSIGN_OR_RETURN(tile.place, attention.place_of(question.step));
  TRAINWARDEN_ASSIGN_OR_RETURN(const LayerValues values,
                               attention.read(question.layer, tile.place.step, Need::kWeights));
  TRAINWARDEN_RETURN_IF_ERROR(check_index("batch item", question.item, values.items));
  TRAINWARDEN_RETURN_IF_ERROR(check_index("head", question.head, values.map.heads));
  tile.query_length = values.query_length;
  tile.key_length = values.key_length;
  const std::int64_t length = std::max(values.query_length, values.key_length);
  tile.levels = level_within(length, kTileSide) + 1;
  TRAINWARDEN_RETURN_IF_ERROR(check_index("level", question.level, tile.levels));
  TRAINWARDEN_RETURN_IF_ERROR(
      check_index("row of tiles", question.row, blocks(blocks(values.query_length, question.level), kTileBits)));
  TRAINWARDEN_RETURN_IF_ERROR(
      check_index("column of tiles", question.column, blocks(blocks(values.key_length, question.level), kTileBits)));

  const HeadPlace head{question.layer, question.head, tile.place.step, question.item};
  const std::int64_t first_kept = level_within(length, kMostKeptSide);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto caches, attention.caches());
  if (question.level < first_kept) {
    const auto make = [&] { return make_strip(values, head, question.level, question.row); };
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto strip,
                                 caches->strips.get({head, question.level, question.row}, make,
                                                    [](const Plane& plane) { return bytes_of(plane); }));
    tile.plane = crop(*strip, 0, question.column * kTileSide);
    return tile;
  }
  const auto make = [&] { return make_pyramid(values, head, first_kept, tile.levels); };
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto pyramid,
                               caches->pyramids.get(head, make, [](const Pyramid& made) { return bytes_of(made); }));
  const Plane& plane = pyramid->planes[static_cast<std::size_t>(question.level - first_kept)];
  tile.plane = crop(plane, question.row * kTileSide, question.column * kTileSide);
  return tile;
}

}  // namespace trainwarden::views::attention
