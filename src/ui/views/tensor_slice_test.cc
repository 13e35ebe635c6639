#include "ui/views/tensor_slice.h"

#include <cstring>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

namespace trainwarden::views {
namespace {

using Sizes = std::vector<std::int64_t>;

// The numbers 0, 1, 2, ... in the shape [2, 3, 4].
class SliceTest : public testing::Test {
 protected:
  SliceTest() : elements_(24) {
    std::iota(elements_.begin(), elements_.end(), 0.0f);
    view_ = TensorView::of(elements_.data(), DType::kFloat32, {2, 3, 4});
  }

  std::vector<float> taken(std::string_view text, Sizes axes = {}) {
    const auto slice = parse_slice(text, view_.shape, axes);
    EXPECT_TRUE(slice.ok()) << slice.status().to_string();
    if (!slice.ok()) return {};
    shape_ = slice->shape();
    const std::string bytes = gather(view_, *slice);
    std::vector<float> out(bytes.size() / sizeof(float));
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }

  std::vector<float> elements_;
  TensorView view_;
  Sizes shape_;
};

TEST_F(SliceTest, TakesAsNumPyDoes) {
  EXPECT_EQ(taken(""), elements_);
  EXPECT_EQ(shape_, (Sizes{2, 3, 4}));
  EXPECT_EQ(taken("1,2,3"), std::vector<float>{23});
  EXPECT_EQ(shape_, Sizes{});
  EXPECT_EQ(taken("-1, -1"), (std::vector<float>{20, 21, 22, 23}));
  EXPECT_EQ(taken("...,0"), (std::vector<float>{0, 4, 8, 12, 16, 20}));
  EXPECT_EQ(shape_, (Sizes{2, 3}));
  EXPECT_EQ(taken("0,:,1:3"), (std::vector<float>{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(taken("0,0,::2"), (std::vector<float>{0, 2}));
  EXPECT_EQ(taken("0,0,::-1"), (std::vector<float>{3, 2, 1, 0}));
  EXPECT_EQ(taken("0,0,2::-2"), (std::vector<float>{2, 0}));
  EXPECT_EQ(taken("0,0,-2:"), (std::vector<float>{2, 3}));
  EXPECT_EQ(taken("0,0,1:99"), (std::vector<float>{1, 2, 3}));  // clipped
  EXPECT_EQ(taken("0,0,3:1"), std::vector<float>{});
  EXPECT_EQ(shape_, Sizes{0});
}

TEST_F(SliceTest, PutsDimensionsInTheOrderAskedFor) {
  EXPECT_EQ(taken("0,:,:", {2, 1}), (std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(shape_, (Sizes{4, 3}));
  EXPECT_EQ(taken(":,0,0:2", {2, 0}), (std::vector<float>{0, 12, 1, 13}));
}

TEST_F(SliceTest, RefusesWhatDoesNotFit) {
  for (const char* text :
       {"2", "-3", "0,0,0,0", "a", "0,:,1:b", "::0", "1:2:3:4", "...,...", ",", "9223372036854775808"}) {
    const auto slice = parse_slice(text, view_.shape);
    EXPECT_EQ(slice.status().code(), Code::kInvalidArgument) << text;
  }
  EXPECT_EQ(
      parse_slice("5", view_.shape).status().message(),
      "slice \"5\" of a tensor of shape [2, 3, 4]: \"5\" is no index of dimension 0, which has 2; expected is one "
      "index or range for each dimension, like \"0,:,3:7\"");
  const Sizes twice{1, 1};
  EXPECT_FALSE(parse_slice("0", view_.shape, twice).ok());
}

TEST(Slice, DoesNotOverflow) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  const auto far = parse_slice("1:9223372036854775807:9223372036854775807", Shape{huge});
  ASSERT_TRUE(far.ok());
  EXPECT_EQ(far->element_count(), 1);
  const auto back = parse_slice("::-9223372036854775808", Shape{4});
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->shape(), Sizes{1});
  const auto empty = parse_slice("", Shape{1LL << 40, 1LL << 40, 0});
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->element_count(), 0);
}

TEST(Slice, SaysHowItWasUnderstood) {
  EXPECT_EQ(parse_slice("-1,...,::2", Shape{2, 3, 4})->to_string(), "1,0:3,0:3:2");
  EXPECT_EQ(parse_slice("::-1", Shape{3})->to_string(), "2::-1");
}

TEST(Slice, TakesTexts) {
  const std::vector<std::string_view> texts{"a", "b", "c", "d"};
  const TensorView view = TensorView::of(texts.data(), DType::kString, {2, 2});
  EXPECT_EQ(gather_strings(view, *parse_slice(":,1", view.shape)), (std::vector<std::string>{"b", "d"}));
}

}  // namespace
}  // namespace trainwarden::views
