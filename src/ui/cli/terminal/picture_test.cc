#include "ui/cli/terminal/picture.h"

#include <limits>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

constexpr double kPictureNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPictureInfinity = std::numeric_limits<double>::infinity();
constexpr Terminal kPicturePipe{.interactive = false, .unicode = false, .colors = ColorDepth::kNone, .columns = 80};
constexpr Terminal kTrueColor{.interactive = true, .unicode = true, .colors = ColorDepth::kTrueColor, .columns = 80};
constexpr Terminal kPicture256{.interactive = true, .unicode = true, .colors = ColorDepth::k256, .columns = 80};

Raster matrix(std::vector<double> elements, std::int64_t rows, std::int64_t columns) {
  return lay_out(elements, {rows, columns}, 40, 40);
}

TEST(Picture, IsGreyLettersInAPipe) {
  EXPECT_EQ(render_picture(matrix({0, 1, 2, 4}, 2, 2), kPicturePipe),
            "..~~\n"
            "oo@@\n"
            ". is 0, @ is 4\n");
}

TEST(Picture, TellsNanAndInfinitiesFromNumbers) {
  EXPECT_EQ(render_picture(matrix({0, kPictureNan, kPictureInfinity, -kPictureInfinity}, 2, 2), kPicturePipe),
            "ooNN\n"
            "++--\n"
            ". is 0, @ is 0; NN is NaN; ++ and -- are infinities\n");
  EXPECT_NE(render_picture(matrix({0, kPictureNan}, 1, 2), kTrueColor).find("38;2;255;0;255"), std::string::npos);
}

TEST(Picture, PutsTwoRowsOnALineWithHalfBlocks) {
  const std::string text = render_picture(matrix({-1, 0, 0.5, 1}, 2, 2), kTrueColor);
  EXPECT_EQ(text,
            "\x1b[38;2;70;150;255m\x1b[48;2;141;88;40m▀\x1b[0m"
            "\x1b[38;2;26;26;30m\x1b[48;2;255;150;50m▀\x1b[0m\n"
            "blue -1, dark 0, orange 1\n");
}

TEST(Picture, AnOddLastRowHasNoLowerHalf) {
  const std::string text = render_picture(matrix({0, 1, 2}, 3, 1), kTrueColor);
  EXPECT_NE(text.find("\x1b[38;2;246;246;246m▀\x1b[0m\n"), std::string::npos);
}

TEST(Picture, UsesTheColourCubeOnTerminalsWith256Colours) {
  const std::string text = render_picture(matrix({-1, 1}, 2, 1), kPicture256);
  EXPECT_EQ(text, "\x1b[38;5;69m\x1b[48;5;209m▀\x1b[0m\nblue -1, dark 0, orange 1\n");
}

TEST(Picture, LeavesGapsBetweenTilesEmpty) {
  const std::vector<double> elements = {1, 1, 1, 1};
  const Raster raster = lay_out(elements, {2, 1, 2}, 40, 5);
  EXPECT_EQ(render_picture(raster, kPicturePipe), "oooo  oooo\n. is 1, @ is 1\n");
}

TEST(Picture, FitsTheTerminal) {
  EXPECT_EQ(picture_size(kTrueColor).columns, 80);
  EXPECT_EQ(picture_size(kPicturePipe).columns, 40);
}

TEST(Picture, OfNothingIsNothing) {
  EXPECT_EQ(render_picture(Raster{}, kPicturePipe), "");
}

TEST(Sparkline, RisesWithTheValues) {
  const std::vector<double> elements = {0, 1, 2, 3, 4, 5, 6, 7};
  const Raster raster = lay_out(elements, {8}, 1, 40);
  EXPECT_EQ(render_sparkline(raster, kTrueColor), "▁▂▃▄▅▆▇█\nlowest 0, highest 7\n");
  EXPECT_EQ(render_sparkline(raster, kPicturePipe), "_.-~=+*#\nlowest 0, highest 7\n");
}

TEST(Sparkline, MarksWhatIsNotFinite) {
  const std::vector<double> elements = {0, kPictureNan, kPictureInfinity, -kPictureInfinity, 1};
  EXPECT_EQ(render_sparkline(lay_out(elements, {5}, 1, 40), kPicturePipe),
            "_!^v#\nlowest 0, highest 1; ! is NaN; ^ and v are infinities\n");
}

}  // namespace
}  // namespace trainwarden::cli
