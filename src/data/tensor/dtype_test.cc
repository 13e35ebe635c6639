#include "trainwarden/dtype.h"

#include <gtest/gtest.h>

#include "trainwarden/reduction.h"

namespace trainwarden {
namespace {

TEST(DType, NamesParseBack) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(name(dtype)), dtype) << name(dtype);
  }
  EXPECT_EQ(name(DType::kFloat8E4M3), "float8_e4m3");
  EXPECT_EQ(name(DType::kBFloat16), "bfloat16");
  EXPECT_EQ(parse_dtype("half"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
  EXPECT_EQ(name(static_cast<DType>(99)), "unknown dtype");
}

TEST(DType, ItemBytes) {
  EXPECT_EQ(item_bytes(DType::kBool), 1u);
  EXPECT_EQ(item_bytes(DType::kInt64), 8u);
  EXPECT_EQ(item_bytes(DType::kUInt16), 2u);
  EXPECT_EQ(item_bytes(DType::kFloat16), 2u);
  EXPECT_EQ(item_bytes(DType::kBFloat16), 2u);
  EXPECT_EQ(item_bytes(DType::kFloat8E5M2), 1u);
  EXPECT_EQ(item_bytes(DType::kFloat32), 4u);
  EXPECT_EQ(item_bytes(DType::kComplex64), 8u);
  EXPECT_EQ(item_bytes(DType::kComplex128), 16u);
  EXPECT_EQ(item_bytes(DType::kString), sizeof(std::string_view));
  EXPECT_EQ(item_bytes(static_cast<DType>(99)), 0u);
}

TEST(DType, Kinds) {
  EXPECT_TRUE(is_floating_point(DType::kFloat8E4M3));
  EXPECT_TRUE(is_floating_point(DType::kFloat64));
  EXPECT_FALSE(is_floating_point(DType::kComplex64));
  EXPECT_FALSE(is_floating_point(DType::kBool));
  EXPECT_TRUE(is_complex(DType::kComplex128));
  EXPECT_FALSE(is_complex(DType::kFloat32));
}

TEST(Reduction, NamesParseBack) {
  for (int i = 0; i < kReductionCount; ++i) {
    const auto reduction = static_cast<Reduction>(i);
    EXPECT_EQ(parse_reduction(name(reduction)), reduction) << name(reduction);
  }
  EXPECT_EQ(name(Reduction::kStd), "std");
  EXPECT_EQ(parse_reduction("median"), std::nullopt);
}

}  // namespace
}  // namespace trainwarden
