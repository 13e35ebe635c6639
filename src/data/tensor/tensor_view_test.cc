#include "trainwarden/tensor_view.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "data/tensor/strided_reader.h"

namespace trainwarden {
namespace {

std::vector<std::int64_t> to_vector(const Shape& shape) {
  return {shape.sizes().begin(), shape.sizes().end()};
}

TEST(Shape, CountsAndPrints) {
  EXPECT_EQ(Shape().rank(), 0);
  EXPECT_EQ(Shape().element_count(), 1);
  EXPECT_EQ(Shape().to_string(), "[]");
  const Shape shape = {256, 1, 28, 28};
  EXPECT_EQ(shape.rank(), 4);
  EXPECT_EQ(shape[2], 28);
  EXPECT_EQ(shape.element_count(), 256 * 28 * 28);
  EXPECT_EQ(shape.to_string(), "[256, 1, 28, 28]");
  EXPECT_EQ((Shape{3, 0, 5}).element_count(), 0);
  EXPECT_EQ(shape, (Shape{256, 1, 28, 28}));
  EXPECT_FALSE(shape == (Shape{256, 28, 28}));
}

TEST(Shape, RefusesWhatCannotBe) {
  const std::vector<std::int64_t> sizes = {2, 3};
  EXPECT_EQ(to_vector(*Shape::from(sizes)), sizes);
  EXPECT_EQ(Shape::from(std::vector<std::int64_t>{2, -1}).status().message(), "shape [2, -1] has a negative size");
  EXPECT_EQ(Shape::from(std::vector<std::int64_t>(17, 1)).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(Shape::from(std::vector<std::int64_t>(16, 1)).ok());
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(Shape::from(std::vector<std::int64_t>{huge, huge}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Shape::from(std::vector<std::int64_t>{huge, huge, 0})->element_count(), 0);
}

TEST(TensorView, RowMajorStridesAreContiguous) {
  const std::vector<float> data(24);
  const auto view = [&](std::vector<std::int64_t> shape, std::vector<std::int64_t> strides) {
    return TensorView::strided(data.data(), DType::kFloat32, shape, strides).value();
  };
  EXPECT_TRUE(view({2, 3, 4}, {12, 4, 1}).contiguous);
  EXPECT_TRUE(view({2, 1, 4}, {4, 77, 1}).contiguous) << "the stride of a single element means nothing";
  EXPECT_TRUE(view({}, {}).contiguous);
  EXPECT_TRUE(view({0, 3}, {1, 9}).contiguous);
  EXPECT_FALSE(view({4, 6}, {1, 4}).contiguous);
  EXPECT_FALSE(view({2, 3}, {4, 1}).contiguous);
  EXPECT_EQ(view({4, 6}, {1, 4}).packed_bytes(), 96u);
  EXPECT_EQ(view({4, 6}, {1, 4}).element_count(), 24);
}

TEST(TensorView, NeedsAStrideForEachSize) {
  const float data = 0;
  const std::vector<std::int64_t> shape = {1, 1};
  const std::vector<std::int64_t> strides = {1};
  const auto view = TensorView::strided(&data, DType::kFloat32, shape, strides);
  EXPECT_EQ(view.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(view.status().message(), "2 sizes but 1 strides; each dimension needs both");
}

TEST(CopyPacked, SaysWhyItCannot) {
  float destination = 0;
  const float data = 1;
  const auto on_gpu = TensorView::of(&data, DType::kFloat32, {}, {DeviceType::kCuda, 2});
  EXPECT_EQ(copy_packed(on_gpu, &destination).to_string(),
            "failed precondition: the tensor lies on cuda:2, which the CPU cannot read; copy it to host memory first");
  EXPECT_TRUE(copy_packed(TensorView::of(&data, DType::kFloat32, {}, {DeviceType::kCudaHost, 0}), &destination).ok());
  EXPECT_EQ(copy_packed(TensorView::of(nullptr, DType::kFloat32, {3}), &destination).code(), Code::kInvalidArgument);
  EXPECT_TRUE(copy_packed(TensorView::of(nullptr, DType::kFloat32, {0}), nullptr).ok());
}

TEST(CopyPacked, CopiesStrings) {
  const std::vector<std::string_view> words = {"a", "bc", "def", "g"};
  const std::vector<std::int64_t> shape = {2, 2};
  const std::vector<std::int64_t> strides = {1, 2};
  std::vector<std::string_view> packed(4);
  ASSERT_TRUE(copy_packed(*TensorView::strided(words.data(), DType::kString, shape, strides), packed.data()).ok());
  EXPECT_EQ(packed, (std::vector<std::string_view>{"a", "def", "bc", "g"}));
}

// Random shapes and strides (zero and negative ones, too) against a walk over all indices.
class RandomStrides : public testing::TestWithParam<DType> {
 protected:
  static constexpr std::size_t kMiddle = 1 << 15;

  void SetUp() override {
    memory_.resize(2 * kMiddle * item_bytes(GetParam()));
    for (std::byte& byte : memory_) byte = static_cast<std::byte>(random_());
  }

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  TensorView random_view() {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(pick(0, 5)));
    std::vector<std::int64_t> strides(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      shape[d] = pick(pick(0, 9) == 0 ? 0 : 1, 6);
      strides[d] = pick(-800, 800) / (pick(0, 1) == 0 ? 1 : 400);
    }
    const std::byte* middle = memory_.data() + kMiddle * item_bytes(GetParam());
    return TensorView::strided(middle, GetParam(), shape, strides).value();
  }

  static std::vector<std::byte> walk(const TensorView& view) {
    std::vector<std::byte> result;
    const std::size_t bytes = item_bytes(view.dtype);
    for (std::int64_t index = 0; index < view.element_count(); ++index) {
      std::int64_t left = index;
      std::int64_t offset = 0;
      std::int64_t packed = 1;
      for (int d = view.shape.rank() - 1; d >= 0; --d) {
        const std::int64_t stride = view.contiguous ? packed : view.strides[static_cast<std::size_t>(d)];
        offset += left % view.shape[d] * stride;
        left /= view.shape[d];
        packed *= view.shape[d];
      }
      const auto* element = static_cast<const std::byte*>(view.data) + offset * static_cast<std::int64_t>(bytes);
      result.insert(result.end(), element, element + bytes);
    }
    return result;
  }

  std::mt19937 random_{11};
  std::vector<std::byte> memory_;
};

TEST_P(RandomStrides, CopyPackedFollowsThem) {
  for (int round = 0; round < 300; ++round) {
    const TensorView view = random_view();
    std::vector<std::byte> packed(view.packed_bytes());
    ASSERT_TRUE(copy_packed(view, packed.data()).ok());
    ASSERT_EQ(packed, walk(view)) << "round " << round << ", shape " << view.shape.to_string();
  }
}

TEST_P(RandomStrides, ReaderStartsAnywhereAndReadsAnyPieces) {
  for (int round = 0; round < 300; ++round) {
    const TensorView view = random_view();
    const std::int64_t count = view.element_count();
    const std::int64_t first = pick(0, count);
    const auto bytes = static_cast<std::int64_t>(item_bytes(view.dtype));
    std::vector<std::byte> read(static_cast<std::size_t>((count - first) * bytes));
    StridedReader reader(view, first);
    for (std::int64_t at = first; at < count;) {
      const std::int64_t piece = pick(1, count - at);
      reader.read(piece, read.data() + (at - first) * bytes);
      at += piece;
    }
    const std::vector<std::byte> all = walk(view);
    const std::vector<std::byte> expected(all.begin() + first * bytes, all.end());
    ASSERT_EQ(read, expected) << "round " << round << ", shape " << view.shape.to_string() << ", first " << first;
  }
}

INSTANTIATE_TEST_SUITE_P(ItemBytes, RandomStrides,
                         testing::Values(DType::kInt8, DType::kFloat16, DType::kFloat32, DType::kFloat64,
                                         DType::kComplex128),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace trainwarden
