// view_of: LibTorch's tensors as views.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <utility>
#include <vector>

#include "trainwarden/tensor_view.h"
#include "trainwarden/torch.h"

namespace trainwarden::torch {
namespace {

TEST(ViewOf, EveryDTypeOfTraining) {
  const std::vector<std::pair<at::ScalarType, DType>> types = {{at::kBool, DType::kBool},
                                                               {at::kChar, DType::kInt8},
                                                               {at::kShort, DType::kInt16},
                                                               {at::kInt, DType::kInt32},
                                                               {at::kLong, DType::kInt64},
                                                               {at::kByte, DType::kUInt8},
                                                               {at::kHalf, DType::kFloat16},
                                                               {at::kBFloat16, DType::kBFloat16},
                                                               {at::kFloat, DType::kFloat32},
                                                               {at::kDouble, DType::kFloat64},
                                                               {at::kComplexFloat, DType::kComplex64},
                                                               {at::kComplexDouble, DType::kComplex128}};
  for (const auto& [type, dtype] : types) {
    const at::Tensor tensor = ::torch::zeros({2, 3}, type);
    const TensorView view = view_of(tensor);
    EXPECT_EQ(view.dtype, dtype);
    EXPECT_EQ(view.data, tensor.data_ptr());
    EXPECT_EQ(view.shape, (Shape{2, 3}));
    EXPECT_EQ(view.packed_bytes(), tensor.nbytes());
    EXPECT_TRUE(view.contiguous);
    EXPECT_TRUE(view.device.host_readable());
  }
}

TEST(ViewOf, StridesAreKept) {
  const at::Tensor whole = ::torch::arange(24, at::kFloat).reshape({4, 6});
  const at::Tensor part = whole.t().slice(0, 1, 6, 2);
  const TensorView view = view_of(part);
  EXPECT_FALSE(view.contiguous);
  EXPECT_EQ(view.data, part.data_ptr());

  at::Tensor packed = ::torch::empty(part.sizes());
  ASSERT_TRUE(copy_packed(view, packed.data_ptr()).ok());
  EXPECT_TRUE(packed.equal(part));
}

TEST(ViewOf, ScalarsAndEmptyTensors) {
  EXPECT_EQ(view_of(::torch::tensor(1.5)).shape, Shape{});
  const TensorView empty = view_of(::torch::empty({0, 3}));
  EXPECT_EQ(empty.shape, (Shape{0, 3}));
  EXPECT_TRUE(empty.device.host_readable());
}

TEST(ViewOf, ATensorThatNeedsAGradientIsReadAsItIs) {
  const at::Tensor tensor = ::torch::ones({3}, ::torch::requires_grad());
  EXPECT_EQ(view_of(tensor).data, tensor.data_ptr());
}

TEST(ViewOf, WhatHasNoPlainMemoryCannotBeRead) {
  const at::Tensor plain = ::torch::eye(3);
  EXPECT_FALSE(view_of(plain.to_sparse()).device.host_readable());
  EXPECT_FALSE(view_of(::torch::empty({2}, at::kMeta)).device.host_readable());
  EXPECT_FALSE(view_of(::torch::quantize_per_tensor(plain, 0.1, 0, at::kQInt8)).device.host_readable());
  EXPECT_FALSE(view_of(::torch::ones({2}, at::kComplexFloat).conj()).device.host_readable());
  EXPECT_FALSE(view_of(at::Tensor()).device.host_readable());
}

}  // namespace
}  // namespace trainwarden::torch
