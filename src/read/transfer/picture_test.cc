#include "read/transfer/picture.h"

#include <limits>
#include <numeric>

#include <gtest/gtest.h>

namespace trainwarden::transfer {
namespace {

using Pixels = std::vector<std::uint8_t>;

TEST(Picture, BytesArePixelsAndChannelsComeTogether) {
  const Pixels planes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const auto rgb = picture_of(TensorView::of(planes.data(), DType::kUInt8, {3, 2, 2}));
  ASSERT_TRUE(rgb);
  EXPECT_EQ(rgb->width, 2);
  EXPECT_EQ(rgb->height, 2);
  EXPECT_EQ(rgb->channels, 3);
  EXPECT_EQ(rgb->pixels, Pixels({1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12}));
}

TEST(Picture, NumbersAreSpreadFromBlackToWhite) {
  const std::vector<float> values = {-1,
                                     0,
                                     1,
                                     std::numeric_limits<float>::quiet_NaN(),
                                     std::numeric_limits<float>::infinity(),
                                     -std::numeric_limits<float>::infinity()};
  const auto grey = picture_of(TensorView::of(values.data(), DType::kFloat32, {2, 3}));
  ASSERT_TRUE(grey);
  EXPECT_EQ(grey->pixels, Pixels({0, 128, 255, 0, 255, 0}));
  const std::vector<float> constant(4, 7.0f);
  EXPECT_EQ(picture_of(TensorView::of(constant.data(), DType::kFloat32, {2, 2}))->pixels, Pixels(4, 0));
}

TEST(Picture, ManyLieInAGridAPixelApart) {
  const Pixels tiles = {1, 2, 3};  // three kernels of one pixel
  const auto grid = picture_of(TensorView::of(tiles.data(), DType::kUInt8, {3, 1, 1, 1}));
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->width, 3);
  EXPECT_EQ(grid->height, 3);
  EXPECT_EQ(grid->pixels, Pixels({1, 0, 2, 0, 0, 0, 3, 0, 0}));
}

TEST(Picture, PlanesThatAreNoChannelsAreTilesAndNotTooMany) {
  std::vector<std::uint8_t> planes(100 * 5);
  const auto grid = picture_of(TensorView::of(planes.data(), DType::kUInt8, {100, 5, 1, 1}));
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->channels, 1);
  EXPECT_EQ(grid->width, 15);  // 8 x 8 tiles
  EXPECT_EQ(grid->height, 15);
}

TEST(Picture, OtherShapesAndTypesAreNone) {
  const std::vector<double> data(3000);
  const auto none = [&](DType dtype, const Shape& shape) {
    return !picture_of(TensorView::of(data.data(), dtype, shape)).has_value();
  };
  EXPECT_TRUE(none(DType::kFloat32, {4}));
  EXPECT_TRUE(none(DType::kFloat32, {1, 1, 1, 2, 2}));
  EXPECT_TRUE(none(DType::kFloat32, {0, 4}));
  EXPECT_TRUE(none(DType::kComplex64, {2, 2}));
  EXPECT_TRUE(none(DType::kUInt8, {1025, 1}));
}

TEST(Picture, PngIsPng) {
  const Pixels pixels = {0, 255, 128, 64};
  const auto png = encode_png({2, 2, 1, pixels});
  ASSERT_TRUE(png.ok());
  EXPECT_EQ(png->substr(0, 8), "\x89PNG\r\n\x1a\n");
}

}  // namespace
}  // namespace trainwarden::transfer
