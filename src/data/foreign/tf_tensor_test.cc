#include "data/foreign/tf_tensor.h"

#include <gtest/gtest.h>

#include "data/foreign/golden_record.h"

namespace trainwarden::foreign {
namespace {

Result<TensorValue> decode_hex(std::string_view hex) {
  return decode_tensor(as_bytes(from_hex(hex)));
}

std::string bytes_of(const TensorValue& value) {
  return std::string(as_text(value.data));
}

template <class T>
std::vector<T> values_of(const Result<TensorValue>& value) {
  EXPECT_TRUE(value.ok()) << value.status().to_string();
  if (!value.ok()) return {};
  std::vector<T> values(value->data.size() / sizeof(T));
  std::memcpy(values.data(), value->data.data(), values.size() * sizeof(T));
  return values;
}

std::string message_of(const TensorView& view, std::optional<std::string_view> smdebug_tag = {}) {
  const TensorMessage message = encode_tensor(view, smdebug_tag);
  return message.head + std::string(as_text(message.content));
}

TEST(TfTensorTest, NumbersOfDTypesAreTensorFlows) {
  EXPECT_EQ(tf_dtype(DType::kFloat32), 1);
  EXPECT_EQ(tf_dtype(DType::kFloat64), 2);
  EXPECT_EQ(tf_dtype(DType::kInt32), 3);
  EXPECT_EQ(tf_dtype(DType::kUInt8), 4);
  EXPECT_EQ(tf_dtype(DType::kInt16), 5);
  EXPECT_EQ(tf_dtype(DType::kInt8), 6);
  EXPECT_EQ(tf_dtype(DType::kString), 7);
  EXPECT_EQ(tf_dtype(DType::kComplex64), 8);
  EXPECT_EQ(tf_dtype(DType::kInt64), 9);
  EXPECT_EQ(tf_dtype(DType::kBool), 10);
  EXPECT_EQ(tf_dtype(DType::kBFloat16), 14);
  EXPECT_EQ(tf_dtype(DType::kUInt16), 17);
  EXPECT_EQ(tf_dtype(DType::kComplex128), 18);
  EXPECT_EQ(tf_dtype(DType::kFloat16), 19);
  EXPECT_EQ(tf_dtype(DType::kUInt32), 22);
  EXPECT_EQ(tf_dtype(DType::kUInt64), 23);
  EXPECT_EQ(tf_dtype(DType::kFloat8E5M2), 24);
  EXPECT_EQ(tf_dtype(DType::kFloat8E4M3), 25);
  for (const std::int32_t other : {0, 11, 12, 13, 15, 16, 20, 21, 26, -1}) EXPECT_FALSE(dtype_of_tf(other)) << other;
}

TEST(TfTensorTest, EveryDTypeThereAndBack) {
  std::string memory(6 * 16, '\0');
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>(i * 37 + 1);
  for (int number = 0; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    EXPECT_EQ(dtype_of_tf(tf_dtype(dtype)), dtype);
    if (dtype == DType::kString) continue;
    const TensorView view = TensorView::of(memory.data(), dtype, {2, 1, 3});
    const std::string message = message_of(view);
    const auto value = decode_tensor(as_bytes(message));
    ASSERT_TRUE(value.ok()) << value.status().to_string();
    EXPECT_EQ(value->dtype, dtype);
    EXPECT_EQ(value->shape, (Shape{2, 1, 3}));
    EXPECT_EQ(bytes_of(*value), memory.substr(0, view.packed_bytes()));
    EXPECT_EQ(*decode_tensor_shape(as_bytes(message)), std::pair(dtype, Shape{2, 1, 3}));
  }
}

TEST(TfTensorTest, ScalarsAndEmptyTensorsThereAndBack) {
  const double number = 2.5;
  const auto scalar = decode_tensor(as_bytes(message_of(TensorView::of(&number, DType::kFloat64, {}))));
  EXPECT_EQ(values_of<double>(scalar), std::vector{2.5});
  EXPECT_EQ(scalar->shape, Shape{});
  const auto empty = decode_tensor(as_bytes(message_of(TensorView::of(nullptr, DType::kInt16, {3, 0}))));
  ASSERT_TRUE(empty.ok()) << empty.status().to_string();
  EXPECT_EQ(empty->shape, (Shape{3, 0}));
  EXPECT_EQ(empty->dtype, DType::kInt16);
}

TEST(TfTensorTest, StringsThereAndBackWithAndWithoutTheirDType) {
  const std::vector<std::string_view> strings = {"a", "", "\xff"};
  const TensorView view = TensorView::of(strings.data(), DType::kString, {3});
  EXPECT_EQ(message_of(view).substr(0, 2), from_hex("08 07"));
  EXPECT_EQ(message_of(view, "t"), from_hex("12 09 12 07 08 03 12 03 74 5f 33  42 01 61  42 00  42 01 ff"));
  for (const auto tag : {std::optional<std::string_view>(), std::optional<std::string_view>("t")}) {
    const auto value = decode_tensor(as_bytes(message_of(view, tag)));
    ASSERT_TRUE(value.ok()) << value.status().to_string();
    EXPECT_EQ(value->dtype, DType::kString);
    EXPECT_EQ(value->strings, std::vector<std::string>(strings.begin(), strings.end()));
  }
  const auto none = decode_tensor(as_bytes(message_of(TensorView::of(nullptr, DType::kString, {0}), "t")));
  ASSERT_TRUE(none.ok()) << none.status().to_string();
  EXPECT_EQ(none->dtype, DType::kString);
}

// In what follows 12 04 12 02 08 NN is a shape of NN elements.
TEST(TfTensorTest, TypedListsPackedAndSingle) {
  EXPECT_EQ(values_of<float>(decode_hex("08 01 12 04 12 02 08 02  2a 08 0000803f 00000040")),
            (std::vector{1.0f, 2.0f}));
  EXPECT_EQ(values_of<float>(decode_hex("08 01 12 04 12 02 08 02  2d 0000803f  2d 00000040")),
            (std::vector{1.0f, 2.0f}));
  EXPECT_EQ(values_of<double>(decode_hex("08 02 12 04 12 02 08 01  32 08 000000000000f03f")), std::vector{1.0});
  EXPECT_EQ(values_of<std::int32_t>(decode_hex("08 03 12 04 12 02 08 02  3a 0b 05 ffffffffffffffffff01")),
            (std::vector<std::int32_t>{5, -1}));
  EXPECT_EQ(values_of<std::uint8_t>(decode_hex("08 04 12 04 12 02 08 02  3a 03 05 ff01")),
            (std::vector<std::uint8_t>{5, 255}));
  EXPECT_EQ(values_of<std::int16_t>(decode_hex("08 05 12 04 12 02 08 01  38 feffffffffffffffff01")),
            std::vector<std::int16_t>{-2});
  EXPECT_EQ(values_of<std::int8_t>(decode_hex("08 06 12 04 12 02 08 01  38 feffffffffffffffff01")),
            std::vector<std::int8_t>{-2});
  EXPECT_EQ(values_of<std::int64_t>(decode_hex("08 09 12 04 12 02 08 02  52 0b 05 ffffffffffffffffff01")),
            (std::vector<std::int64_t>{5, -1}));
  EXPECT_EQ(values_of<std::uint8_t>(decode_hex("08 0a 12 04 12 02 08 02  5a 02 01 00")),
            (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(values_of<std::uint16_t>(decode_hex("08 13 12 04 12 02 08 01  6a 02 80 78")),
            std::vector<std::uint16_t>{0x3c00});
  EXPECT_EQ(values_of<std::uint16_t>(decode_hex("08 0e 12 04 12 02 08 01  68 80 7f")),
            std::vector<std::uint16_t>{0x3f80});
  EXPECT_EQ(values_of<std::uint16_t>(decode_hex("08 11 12 04 12 02 08 01  38 ffff03")),
            std::vector<std::uint16_t>{0xffff});
  EXPECT_EQ(values_of<float>(decode_hex("08 08 12 04 12 02 08 01  4a 08 0000803f 00000040")),
            (std::vector{1.0f, 2.0f}));
  EXPECT_EQ(values_of<double>(decode_hex("08 12 12 04 12 02 08 01  62 10 000000000000f03f 0000000000000040")),
            (std::vector{1.0, 2.0}));
  EXPECT_EQ(values_of<std::uint32_t>(decode_hex("08 16 12 04 12 02 08 01  8201 05 ffffffff0f")),
            std::vector<std::uint32_t>{0xffffffff});
  EXPECT_EQ(values_of<std::uint64_t>(decode_hex("08 17 12 04 12 02 08 01  8a01 01 07")), std::vector<std::uint64_t>{7});
  EXPECT_EQ(values_of<std::uint8_t>(decode_hex("08 19 12 04 12 02 08 02  9201 02 38 40")),
            (std::vector<std::uint8_t>{0x38, 0x40}));
}

TEST(TfTensorTest, ListBeforeDTypeIsReadToo) {
  EXPECT_EQ(values_of<float>(decode_hex("2a 04 0000803f  12 04 12 02 08 01  08 01")), std::vector{1.0f});
}

TEST(TfTensorTest, ShorterListRepeatsItsLast) {
  EXPECT_EQ(values_of<float>(decode_hex("08 01 12 04 12 02 08 04  2a 08 0000803f 00000040")),
            (std::vector{1.0f, 2.0f, 2.0f, 2.0f}));
  const auto strings = decode_hex("08 07 12 04 12 02 08 03  42 01 61 42 01 62");
  ASSERT_TRUE(strings.ok()) << strings.status().to_string();
  EXPECT_EQ(strings->strings, (std::vector<std::string>{"a", "b", "b"}));
}

TEST(TfTensorTest, RepeatingHasALimit) {
  // A shape of 2^40 floats and one of them.
  EXPECT_EQ(decode_hex("08 01 12 09 12 07 08 808080808020  2a 04 0000803f").status().code(), Code::kResourceExhausted);
  EXPECT_EQ(decode_hex("08 07 12 09 12 07 08 808080808020  42 01 61").status().code(), Code::kResourceExhausted);
}

TEST(TfTensorTest, CountsThatDoNotFitAreDataLoss) {
  for (const char* hex : {
           "08 01 12 04 12 02 08 02",                                    // no values
           "08 01 12 04 12 02 08 01  2a 08 0000803f 00000040",           // too many
           "08 01 12 04 12 02 08 02  22 04 0000803f",                    // content too short
           "08 01 12 04 12 02 08 01  22 08 0000803f 00000040",           // content too long
           "08 08 12 04 12 02 08 01  4a 04 0000803f",                    // half a complex number
           "08 01 12 02 12 00  2a 04 0000803f",                          // a value in a shape of [0]
           "08 07 12 04 12 02 08 02",                                    // no strings
           "12 04 12 02 08 02  2a 04 0000803f",                          // no dtype
           "08 01 12 0d 12 0b 08 ffffffffffffffffff01  2a 04 0000803f",  // a size of -1
           "08 01 12 02 18 01  2a 04 0000803f",                          // an unknown rank
           "08 01 12 04 12 02 08 01  28 01",                             // float_val as a varint
           "08 01 12 04 12 02 08 01  20 01",                             // content as a varint
           "0a 00",                                                      // dtype as bytes
       }) {
    EXPECT_EQ(decode_hex(hex).status().code(), Code::kDataLoss) << hex;
  }
}

TEST(TfTensorTest, SizesThatOverflowAreDataLoss) {
  const std::string huge = "12 0b 08 808080808080808040";  // a dimension of 2^62
  const std::string message = "08 01 12 1a " + huge + huge + " 22 04 0000803f";
  EXPECT_EQ(decode_hex(message).status().code(), Code::kDataLoss);
  EXPECT_EQ(decode_tensor_shape(as_bytes(from_hex(message))).status().code(), Code::kDataLoss);
}

TEST(TfTensorTest, MoreDimensionsThanShapeHasAreDataLoss) {
  std::string shape;
  for (int i = 0; i < Shape::kMaxRank; ++i) shape += "12 02 08 01 ";
  EXPECT_EQ(values_of<float>(decode_hex("08 01 12 40 " + shape + " 22 04 0000803f")), std::vector{1.0f});
  EXPECT_EQ(decode_hex("08 01 12 44 12 02 08 01" + shape + " 22 04 0000803f").status().code(), Code::kDataLoss);
}

TEST(TfTensorTest, DTypeWithoutACounterpartIsUnimplementedAndNamed) {
  const auto quantised = decode_hex("08 0c 12 04 12 02 08 01  22 01 05");
  EXPECT_EQ(quantised.status().code(), Code::kUnimplemented);
  EXPECT_NE(quantised.status().message().find("12"), std::string::npos);
  EXPECT_EQ(decode_hex("08 07 12 04 12 02 08 01  22 02 01 61").status().code(), Code::kUnimplemented);
}

TEST(TfTensorTest, UnknownFieldsAreSkipped) {
  EXPECT_EQ(values_of<float>(decode_hex("18 05 c23e 02 6162 08 01 12 08 12 06 08 01 1a 02 6162  22 04 0000803f")),
            std::vector{1.0f});
}

}  // namespace
}  // namespace trainwarden::foreign
