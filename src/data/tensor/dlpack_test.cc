#include "data/tensor/dlpack.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace trainwarden {
namespace {

// A DLTensor over memory of its own.
struct Foreign {
  Foreign(DLDataType type, std::vector<std::int64_t> sizes) : shape(std::move(sizes)) {
    tensor.data = memory.data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int>(shape.size());
    tensor.dtype = type;
    tensor.shape = shape.data();
  }

  std::vector<std::byte> memory = std::vector<std::byte>(256);
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  DLTensor tensor{};
};

constexpr DLDataType kFloats = {kDLFloat, 32, 1};

TEST(FromDlpack, PackedWithoutStrides) {
  Foreign foreign(kFloats, {2, 3});
  const Result<TensorView> view = from_dlpack(foreign.tensor);
  ASSERT_TRUE(view.ok()) << view.status().to_string();
  EXPECT_EQ(view->data, foreign.memory.data());
  EXPECT_EQ(view->dtype, DType::kFloat32);
  EXPECT_EQ(view->shape, (Shape{2, 3}));
  EXPECT_TRUE(view->contiguous);
}

TEST(FromDlpack, StridesOffsetAndDevice) {
  Foreign foreign(kFloats, {2, 3});
  foreign.strides = {1, 2};
  foreign.tensor.strides = foreign.strides.data();
  foreign.tensor.byte_offset = 16;
  foreign.tensor.device = {kDLCUDA, 1};
  const Result<TensorView> view = from_dlpack(foreign.tensor);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->data, foreign.memory.data() + 16);
  EXPECT_FALSE(view->contiguous);
  EXPECT_EQ(view->strides[1], 2);
  EXPECT_EQ(view->device, (Device{DeviceType::kCuda, 1}));
}

TEST(FromDlpack, ScalarAndEmpty) {
  Foreign scalar(kFloats, {});
  scalar.tensor.shape = nullptr;
  EXPECT_EQ(from_dlpack(scalar.tensor)->element_count(), 1);
  Foreign empty(kFloats, {0, 3});
  empty.tensor.data = nullptr;
  empty.tensor.byte_offset = 64;
  EXPECT_EQ(from_dlpack(empty.tensor)->data, nullptr);
}

TEST(FromDlpack, CodesPastOurHeader) {
  const auto dtype = [](std::uint8_t code, std::uint8_t bits) {
    Foreign foreign({code, bits, 1}, {1});
    return from_dlpack(foreign.tensor)->dtype;
  };
  EXPECT_EQ(dtype(6, 8), DType::kBool);
  EXPECT_EQ(dtype(10, 8), DType::kFloat8E4M3);
  EXPECT_EQ(dtype(12, 8), DType::kFloat8E5M2);
  EXPECT_EQ(dtype(4, 16), DType::kBFloat16);
  EXPECT_EQ(dtype(5, 64), DType::kComplex64);
  EXPECT_EQ(dtype(5, 128), DType::kComplex128);
}

TEST(FromDlpack, RefusesWithAReason) {
  Foreign lanes({kDLFloat, 32, 4}, {1});
  EXPECT_EQ(from_dlpack(lanes.tensor).status().code(), Code::kInvalidArgument);
  EXPECT_NE(from_dlpack(lanes.tensor).status().message().find("type code 2, 32 bits, 4 lanes"), std::string::npos);
  Foreign nibbles({kDLInt, 4, 1}, {1});
  EXPECT_EQ(from_dlpack(nibbles.tensor).status().code(), Code::kInvalidArgument);
  Foreign handle({kDLOpaqueHandle, 64, 1}, {1});
  EXPECT_EQ(from_dlpack(handle.tensor).status().code(), Code::kInvalidArgument);
  Foreign shapeless(kFloats, {1});
  shapeless.tensor.shape = nullptr;
  EXPECT_EQ(from_dlpack(shapeless.tensor).status().code(), Code::kInvalidArgument);
  Foreign negative(kFloats, {-1});
  EXPECT_EQ(from_dlpack(negative.tensor).status().code(), Code::kInvalidArgument);
}

TEST(ToDlpack, RoundTripOfEveryDtype) {
  const std::vector<std::byte> memory(256);
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::kString) continue;
    const TensorView view = TensorView::of(memory.data(), dtype, {2, 4});
    const Result<DLManagedTensor*> exported = to_dlpack(view, nullptr);
    ASSERT_TRUE(exported.ok()) << name(dtype);
    EXPECT_EQ((*exported)->dl_tensor.dtype.bits, 8 * item_bytes(dtype));
    const Result<TensorView> back = from_dlpack((*exported)->dl_tensor);
    ASSERT_TRUE(back.ok()) << name(dtype);
    // A header before 0.8 has no bool; an unsigned byte goes in its place.
    EXPECT_TRUE(back->dtype == dtype || (dtype == DType::kBool && back->dtype == DType::kUInt8)) << name(dtype);
    EXPECT_EQ(back->shape, view.shape);
    EXPECT_TRUE(back->contiguous);
    (*exported)->deleter(*exported);
  }
}

TEST(ToDlpack, KeepsStridesAndOwner) {
  auto owner = std::make_shared<std::vector<float>>(6);
  const std::vector<std::int64_t> shape = {3, 2};
  const std::vector<std::int64_t> strides = {1, 3};
  const TensorView view = TensorView::strided(owner->data(), DType::kFloat32, shape, strides).value();
  DLManagedTensor* exported = to_dlpack(view, owner).value();
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_EQ(exported->dl_tensor.strides[1], 3);
  EXPECT_EQ(exported->dl_tensor.data, owner->data());
  exported->deleter(exported);
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(ToDlpack, OwnsAValue) {
  TensorValue value;
  value.dtype = DType::kInt16;
  value.shape = {2};
  value.data.resize(4);
  const std::int16_t numbers[] = {7, -8};
  std::memcpy(value.data.data(), numbers, sizeof numbers);
  DLManagedTensor* exported = to_dlpack(std::move(value)).value();
  EXPECT_EQ(std::memcmp(exported->dl_tensor.data, numbers, sizeof numbers), 0);
  exported->deleter(exported);
}

TEST(ToDlpack, RefusesStrings) {
  const std::string_view word = "w";
  const auto exported = to_dlpack(TensorView::of(&word, DType::kString, {1}), nullptr);
  EXPECT_EQ(exported.status().message(), "DLPack has no elements of dtype string");
}

}  // namespace
}  // namespace trainwarden
