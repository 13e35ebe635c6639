#include "ui/views/attention/tiles.h"

#include <gtest/gtest.h>

#include "ui/views/attention/attention_testing.h"
#include "ui/views/attention/head_look.h"
#include "ui/views/attention/pooling.h"

namespace trainwarden::views::attention {
namespace {

Tile look_at(const RunAttention& attention, const TileQuestion& question) {
  auto tile = look_at_tile(attention, question);
  EXPECT_TRUE(tile.ok()) << tile.status().to_string();
  return tile.ok() ? *std::move(tile) : Tile{};
}

// Rows of a head, whole.
std::vector<float> rows_of(const RunAttention& attention, std::int64_t head, std::vector<std::int64_t> queries) {
  auto look = look_at_heads(attention, {.heads = {head}, .queries = std::move(queries)});
  EXPECT_TRUE(look.ok()) << look.status().to_string();
  return look.ok() ? look->weights : std::vector<float>();
}

TEST(LookAtTile, HasAPixelForEachWeightAtLevelZero) {
  TestRun run;
  run.add({.step = 0, .tensors = {numbers("l.query", {1, 2, 300, 4}, 1), numbers("l.key", {1, 2, 300, 4}, 2)}});
  const RunAttention attention = look_into(run);
  const Tile tile = look_at(attention, {.head = 1, .row = 1, .column = 1});
  EXPECT_EQ(tile.levels, 2);
  EXPECT_EQ(tile.plane.rows, 44);
  EXPECT_EQ(tile.plane.columns, 44);
  const std::vector<float> row = rows_of(attention, 1, {256});
  for (std::size_t i = 0; i < 44; ++i) {
    EXPECT_EQ(tile.plane.max[i], to_byte(static_cast<double>(row[256 + i])));
    EXPECT_EQ(tile.plane.mean[i], tile.plane.max[i]);
  }
}

TEST(LookAtTile, HalvesALevelIntoTheNext) {
  TestRun run;
  run.add({.step = 0, .tensors = {numbers("l.query", {1, 1, 301, 4}, 1), numbers("l.key", {1, 1, 301, 4}, 2)}});
  const RunAttention attention = look_into(run);
  const Tile tile = look_at(attention, {.level = 1});
  ASSERT_EQ(tile.plane.rows, 151);  // the last block has one row and one column only
  ASSERT_EQ(tile.plane.columns, 151);
  const std::vector<float> rows = rows_of(attention, 0, {0, 1, 300});
  EXPECT_EQ(tile.plane.max[1], to_byte(static_cast<double>(std::max({rows[2], rows[3], rows[303], rows[304]}))));
  const double mean = (static_cast<double>(rows[2]) + static_cast<double>(rows[3]) + static_cast<double>(rows[303]) +
                       static_cast<double>(rows[304])) /
                      4;
  EXPECT_EQ(tile.plane.mean[1], to_byte(mean));
  EXPECT_EQ(tile.plane.mean.back(), to_byte(static_cast<double>(rows.back())));
}

TEST(LookAtTile, MakesFineLevelsOfLongTextsStripByStrip) {
  TestRun run;
  run.add({.step = 0, .tensors = {numbers("l.query", {1, 1, 2100, 2}, 1), numbers("l.key", {1, 1, 2100, 2}, 2)}});
  const RunAttention attention = look_into(run);
  const Tile fine = look_at(attention, {.row = 8, .column = 8});
  EXPECT_EQ(fine.levels, 5);
  EXPECT_EQ(fine.plane.rows, 52);
  const std::vector<float> rows = rows_of(attention, 0, {2098, 2099});
  EXPECT_EQ(fine.plane.max.back(), to_byte(static_cast<double>(rows.back())));
  // The coarse levels, which come of the whole, agree with the fine one.
  const Tile coarse = look_at(attention, {.level = 1, .row = 4, .column = 4});
  EXPECT_EQ(coarse.plane.rows, 26);
  EXPECT_EQ(coarse.plane.max.back(),
            to_byte(static_cast<double>(std::max({rows[2098], rows[2099], rows[4198], rows[4199]}))));
  EXPECT_EQ(look_at(attention, {.level = 4}).plane.rows, 132);
}

TEST(LookAtTile, SaysWhichTilesThereAre) {
  TestRun run;
  run.add({.step = 0, .tensors = {weights("l.attn", {1, 1, 3, 5}, 1)}});
  const RunAttention attention = look_into(run);
  const Tile tile = look_at(attention, {});
  EXPECT_EQ(tile.plane.rows, 3);
  EXPECT_EQ(tile.plane.columns, 5);
  const auto message = [&](const TileQuestion& question) {
    return look_at_tile(attention, question).status().message();
  };
  EXPECT_EQ(message({.level = 1}), "there is no level 1: expected 0 to 0");
  EXPECT_EQ(message({.row = 1}), "there is no row of tiles 1: expected 0 to 0");
  EXPECT_EQ(message({.column = 1}), "there is no column of tiles 1: expected 0 to 0");
  EXPECT_EQ(message({.head = 1}), "there is no head 1: expected 0 to 0");
}

}  // namespace
}  // namespace trainwarden::views::attention
