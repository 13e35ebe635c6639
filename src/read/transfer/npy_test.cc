#include "read/transfer/npy.h"

#include <cstdlib>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden::transfer {
namespace {

template <class T>
TensorValue make_value(DType dtype, const Shape& shape, const std::vector<T>& elements) {
  TensorValue value{.dtype = dtype, .shape = shape, .data = {}, .strings = {}};
  value.data.resize(elements.size() * sizeof(T));
  if (!elements.empty()) std::memcpy(value.data.data(), elements.data(), value.data.size());
  return value;
}

// Runs Python with `a` loaded from the file; true when `condition` holds.
bool numpy_agrees(const TensorValue& value, const std::string& condition) {
  const TestFolder folder;
  const std::string path = folder.path() / "a.npy";
  if (!write_npy(path, value).ok()) return false;
  const std::string program =
      fmt::format("import numpy; a = numpy.load('{}'); assert {}, (a.dtype, a.shape, a.tolist())", path, condition);
  return std::system(fmt::format("/usr/bin/python3 -c \"{}\"", program).c_str()) == 0;
}

TEST(Npy, NumpyReadsAMatrix) {
  const auto value = make_value<float>(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6.5});
  EXPECT_TRUE(numpy_agrees(value, "a.dtype == numpy.float32 and a.tolist() == [[1,2,3],[4,5,6.5]]"));
}

TEST(Npy, NumpyReadsScalarsVectorsAndEmptyArrays) {
  EXPECT_TRUE(numpy_agrees(make_value<double>(DType::kFloat64, {}, {2.5}), "a.shape == () and a == 2.5"));
  EXPECT_TRUE(numpy_agrees(make_value<std::int64_t>(DType::kInt64, {3}, {-1, 0, 1}),
                           "a.dtype == numpy.int64 and a.tolist() == [-1,0,1]"));
  EXPECT_TRUE(numpy_agrees(make_value<float>(DType::kFloat32, {0, 4}, {}), "a.shape == (0, 4)"));
}

TEST(Npy, NumpyReadsEveryTypeThatItHas) {
  const struct {
    DType dtype;
    const char* numpy_name;
  } cases[] = {{DType::kBool, "bool"},           {DType::kInt8, "int8"},
               {DType::kInt16, "int16"},         {DType::kInt32, "int32"},
               {DType::kInt64, "int64"},         {DType::kUInt8, "uint8"},
               {DType::kUInt16, "uint16"},       {DType::kUInt32, "uint32"},
               {DType::kUInt64, "uint64"},       {DType::kFloat16, "float16"},
               {DType::kFloat32, "float32"},     {DType::kFloat64, "float64"},
               {DType::kComplex64, "complex64"}, {DType::kComplex128, "complex128"}};
  for (const auto& one : cases) {
    TensorValue value{.dtype = one.dtype, .shape = {2, 2}, .data = {}, .strings = {}};
    value.data.resize(4 * item_bytes(one.dtype));
    EXPECT_TRUE(numpy_agrees(
        value, fmt::format("a.dtype == numpy.dtype('{}') and a.shape == (2, 2) and not a.any()", one.numpy_name)));
  }
}

TEST(Npy, WhatNumpyLacksBecomesFloat32) {
  const auto value = make_value<std::uint16_t>(DType::kBFloat16, {2}, {0x3f80, 0xc000});  // 1 and -2
  EXPECT_EQ(npy_dtype(DType::kBFloat16), DType::kFloat32);
  EXPECT_EQ(npy_dtype(DType::kFloat8E4M3), DType::kFloat32);
  EXPECT_TRUE(numpy_agrees(value, "a.dtype == numpy.float32 and a.tolist() == [1, -2]"));
}

TEST(Npy, TheElementsStartAt64Bytes) {
  const auto value = make_value<std::uint8_t>(DType::kUInt8, {1, 2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(encode_npy(value.view()).size() % 64, 6u);
}

TEST(Npy, TextsHaveTheWidthOfTheLongest) {
  const TensorValue value{.dtype = DType::kString, .shape = {2, 2}, .data = {}, .strings = {"", "grüße", "a", "日本"}};
  EXPECT_TRUE(numpy_agrees(value, "a.dtype == '<U5' and a.tolist() == [['', 'grüße'], ['a', '日本']]"));
  const TensorValue none{.dtype = DType::kString, .shape = {0}, .data = {}, .strings = {}};
  EXPECT_TRUE(numpy_agrees(none, "a.shape == (0,)"));
}

TEST(Npy, AFolderThatCannotBeIsAnError) {
  const Status status = write_npy("/dev/null/all.npy", make_value<float>(DType::kFloat32, {1}, {1}));
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("/dev/null"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::transfer
