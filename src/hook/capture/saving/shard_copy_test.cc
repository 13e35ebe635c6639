#include "hook/capture/saving/shard_copy.h"

#include <array>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace trainwarden::capture {
namespace {

using Index = std::vector<std::int64_t>;

// The element at an index of a tensor whose elements are numbered, row-major.
float number_at(const Shape& shape, const Index& index) {
  float place = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    place = place * static_cast<float>(shape[i]) + static_cast<float>(index[static_cast<std::size_t>(i)]);
  }
  return place;
}

// The block of it at `offsets`, packed.
std::vector<float> block_of(const Shape& whole, const Index& offsets, const Shape& sizes) {
  std::vector<float> block;
  for (std::int64_t i = 0; i < sizes.element_count(); ++i) {
    Index index = offsets;
    std::int64_t rest = i;
    for (int d = sizes.rank() - 1; d >= 0; --d) {
      index[static_cast<std::size_t>(d)] += rest % sizes[d];
      rest /= sizes[d];
    }
    block.push_back(number_at(whole, index));
  }
  return block;
}

class ShardCopy : public testing::Test {
 protected:
  explicit ShardCopy() : whole_(static_cast<std::size_t>(shape_.element_count()), -1) {}

  void put(const Index& offsets, const Shape& sizes) {
    const std::vector<float> block = block_of(shape_, offsets, sizes);
    const TensorView view = TensorView::of(block.data(), DType::kFloat32, sizes);
    ASSERT_TRUE(copy_shard(view, shape_, offsets, memory()).ok());
  }
  MutableByteSpan memory() { return {reinterpret_cast<std::byte*>(whole_.data()), whole_.size() * sizeof(float)}; }
  void expect_whole() {
    for (std::size_t i = 0; i < whole_.size(); ++i) EXPECT_EQ(whole_[i], static_cast<float>(i));
  }

  const Shape shape_ = {4, 3, 6};
  std::vector<float> whole_;
};

TEST_F(ShardCopy, PartsOfRows) {
  put({2, 0, 0}, {2, 3, 6});
  put({0, 0, 0}, {2, 3, 6});
  expect_whole();
}

TEST_F(ShardCopy, PartsOfTheLastDimension) {
  put({0, 0, 0}, {4, 3, 2});
  put({0, 0, 2}, {4, 3, 4});
  expect_whole();
}

TEST_F(ShardCopy, BlocksOfAllDimensions) {
  for (const std::int64_t a : {0, 2}) {
    for (const std::int64_t c : {0, 3}) {
      put({a, 0, c}, {2, 1, 3});
      put({a, 1, c}, {2, 2, 3});
    }
  }
  expect_whole();
}

TEST_F(ShardCopy, APartWithoutElementsChangesNothing) {
  put({4, 0, 0}, {0, 3, 6});
  for (const float element : whole_) EXPECT_EQ(element, -1);
}

TEST_F(ShardCopy, APartThatIsNotPacked) {
  const std::array<float, 6> columns = {0, 10, 1, 11, 2, 12};
  const std::array<std::int64_t, 1> sizes = {3}, strides = {2};
  const TensorView view = *TensorView::strided(columns.data(), DType::kFloat32, sizes, strides);
  std::vector<float> row(5, -1);
  const std::array<std::int64_t, 1> offset = {1};
  ASSERT_TRUE(copy_shard(view, Shape{5}, offset, {reinterpret_cast<std::byte*>(row.data()), 20}).ok());
  EXPECT_EQ(row, (std::vector<float>{-1, 0, 1, 2, -1}));
}

TEST_F(ShardCopy, AScalarIsItsOnlyPart) {
  const float number = 7;
  float whole = 0;
  ASSERT_TRUE(
      copy_shard(TensorView::of(&number, DType::kFloat32, {}), {}, {}, {reinterpret_cast<std::byte*>(&whole), 4}).ok());
  EXPECT_EQ(whole, 7);
}

}  // namespace
}  // namespace trainwarden::capture
