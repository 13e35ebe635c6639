#include "data/format/safetensors.h"

#include <gtest/gtest.h>

#include "data/format/damage_testing.h"

namespace trainwarden::format {
namespace {

// A document of a JSON header as given and so many bytes of data.
std::string document(std::string_view json, std::size_t data_bytes) {
  std::string text(8, '\0');
  store_le(std::as_writable_bytes(std::span(text)), 0, static_cast<std::uint64_t>(json.size()));
  return text + std::string(json) + std::string(data_bytes, '\1');
}

Result<SafetensorsHeader> decode(std::string_view bytes) {
  return decode_safetensors_header(as_bytes(bytes), bytes.size());
}

std::vector<SafetensorsEntry> sample_entries() {
  return {{"a", DType::kFloat32, {2, 3}},
          {"b", DType::kBFloat16, {}},
          {"empty", DType::kBool, {0, 5}},
          {"c", DType::kInt8, {3}}};
}

TEST(SafetensorsTest, HeaderIsByteExact) {
  const std::string json = R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                           R"("b":{"dtype":"BF16","shape":[],"data_offsets":[24,26]},)"
                           R"("empty":{"dtype":"BOOL","shape":[0,5],"data_offsets":[26,26]},)"
                           R"("c":{"dtype":"I8","shape":[3],"data_offsets":[26,29]}})";
  const std::string header = encode_safetensors_header(sample_entries(), {{"k", "v"}});
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(load_le<std::uint64_t>(as_bytes(header), 0), header.size() - 8);
  EXPECT_EQ(header.substr(8, json.size()), json);
  EXPECT_EQ(header.substr(8 + json.size()), std::string(header.size() - 8 - json.size(), ' '));
}

TEST(SafetensorsTest, RoundTrip) {
  const std::string bytes = encode_safetensors_header(sample_entries(), {{"k", "v"}}) + std::string(29, 'x');
  const auto header = decode(bytes);
  ASSERT_TRUE(header.ok()) << header.status().to_string();
  EXPECT_EQ(header->data_offset, bytes.size() - 29);
  EXPECT_EQ(header->metadata, (std::map<std::string, std::string>{{"k", "v"}}));
  ASSERT_EQ(header->entries.size(), 4u);
  EXPECT_EQ(header->entries[0], (SafetensorsEntry{"a", DType::kFloat32, {2, 3}, 0, 24}));
  ASSERT_NE(header->find("c"), nullptr);
  EXPECT_EQ(*header->find("c"), (SafetensorsEntry{"c", DType::kInt8, {3}, 26, 29}));
  EXPECT_EQ(header->find("d"), nullptr);
}

TEST(SafetensorsTest, EveryDTypeRoundTrips) {
  for (int number = 0; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (is_complex(dtype) || dtype == DType::kString) continue;
    const std::string bytes = encode_safetensors_header({{"x", dtype, {3}}}) + std::string(3 * item_bytes(dtype), '\0');
    const auto header = decode(bytes);
    ASSERT_TRUE(header.ok()) << header.status().to_string();
    EXPECT_EQ(header->entries.front().dtype, dtype);
  }
}

TEST(SafetensorsTest, ADocumentMayBeEmptyAndItsOrderFree) {
  EXPECT_TRUE(decode(document("{}", 0)).ok());
  EXPECT_TRUE(decode(document("{\"__metadata__\":{}}   ", 0)).ok());
  const auto header = decode(document(R"({"late":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},)"
                                      R"("early":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                                      3));
  ASSERT_TRUE(header.ok()) << header.status().to_string();
  EXPECT_EQ(header->entries.front().name, "early");
}

struct Refusal {
  const char* why;
  const char* json;
  std::size_t data_bytes;
};

class SafetensorsRefusalTest : public testing::TestWithParam<Refusal> {};

TEST_P(SafetensorsRefusalTest, IsDataLoss) {
  const Status status = decode(document(GetParam().json, GetParam().data_bytes)).status();
  EXPECT_EQ(status.code(), Code::kDataLoss) << GetParam().why << ": " << status.to_string();
}

INSTANTIATE_TEST_SUITE_P(
    All, SafetensorsRefusalTest,
    testing::Values(
        Refusal{"no object", "[]", 0}, Refusal{"blank before", " {}", 0}, Refusal{"cut", "{\"a\":", 0},
        Refusal{"no entry", R"({"a":1})", 0}, Refusal{"no dtype", R"({"a":{"shape":[1],"data_offsets":[0,1]}})", 1},
        Refusal{"unknown dtype", R"({"a":{"dtype":"F7","shape":[1],"data_offsets":[0,1]}})", 1},
        Refusal{"no shape", R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", 1},
        Refusal{"negative size", R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1},
        Refusal{"real size", R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", 1},
        Refusal{"huge size", R"({"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,1]}})", 1},
        Refusal{"no offsets", R"({"a":{"dtype":"U8","shape":[1]}})", 1},
        Refusal{"one offset", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1]}})", 1},
        Refusal{"three offsets", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})", 1},
        Refusal{"negative offset", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[-1,0]}})", 1},
        Refusal{"backwards", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1},
        Refusal{"too many bytes for its shape", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,2]}})", 2},
        Refusal{"too few bytes for its dtype", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,2]}})", 2},
        Refusal{"product past 64 bits", R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})",
                0},
        Refusal{"product past 63 bits, then 0",
                R"({"a":{"dtype":"U8","shape":[4294967296,4294967296,0],"data_offsets":[0,0]}})", 0},
        Refusal{"bytes past 64 bits", R"({"a":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}})", 0},
        Refusal{"gap at the start", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2},
        Refusal{"gap at the end", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 2},
        Refusal{"past the end", R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", 2},
        Refusal{"gap between",
                R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                R"("b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
                3},
        Refusal{"overlap",
                R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                3},
        Refusal{"same bytes",
                R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                R"("b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
                2},
        Refusal{"a name twice",
                R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                2},
        Refusal{"data without entries", "{}", 1}, Refusal{"metadata no object", R"({"__metadata__":1})", 0},
        Refusal{"metadata no string", R"({"__metadata__":{"a":1}})", 0}));

TEST(SafetensorsTest, APrefixNeedsMore) {
  const std::string bytes = encode_safetensors_header(sample_entries()) + std::string(29, 'x');
  const std::size_t header_bytes = bytes.size() - 29;
  for (std::size_t prefix = 0; prefix < header_bytes; ++prefix) {
    on_exact_copy(bytes.substr(0, prefix), [&](ByteSpan damaged) {
      EXPECT_EQ(decode_safetensors_header(damaged, bytes.size()).status().code(), Code::kNeedMore);
    });
  }
  EXPECT_TRUE(decode_safetensors_header(as_bytes(bytes).first(header_bytes), bytes.size()).ok());
  EXPECT_EQ(safetensors_header_bytes(as_bytes(bytes), bytes.size()).value_or(0), header_bytes);
}

TEST(SafetensorsTest, EveryTruncationOfADocumentIsDataLoss) {
  const std::string bytes = encode_safetensors_header(sample_entries()) + std::string(29, 'x');
  for_each_truncation(bytes, [&](ByteSpan damaged) {
    EXPECT_EQ(decode_safetensors_header(damaged, damaged.size()).status().code(), Code::kDataLoss);
  });
}

TEST(SafetensorsTest, NoFlippedBitDoesHarm) {
  const std::string bytes = encode_safetensors_header(sample_entries(), {{"k", "v"}}) + std::string(29, 'x');
  for_each_flipped_bit(bytes, [&](ByteSpan damaged) {
    const auto header = decode_safetensors_header(damaged, damaged.size());
    if (!header.ok()) return;
    for (const SafetensorsEntry& entry : header->entries) EXPECT_LE(header->data_offset + entry.end, damaged.size());
  });
}

TEST(SafetensorsTest, TheHeaderHasALimit) {
  std::array<std::byte, 8> length{};
  store_le(length, 0, std::uint64_t{100'000'000});
  EXPECT_TRUE(safetensors_header_bytes(length, std::uint64_t{1} << 40).ok());
  EXPECT_EQ(safetensors_header_bytes(length, 100'000'007).status().code(), Code::kDataLoss);
  store_le(length, 0, std::uint64_t{100'000'001});
  EXPECT_EQ(safetensors_header_bytes(length, std::uint64_t{1} << 40).status().code(), Code::kDataLoss);
  store_le(length, 0, ~std::uint64_t{0});
  EXPECT_EQ(safetensors_header_bytes(length, ~std::uint64_t{0}).status().code(), Code::kDataLoss);
}

TEST(SafetensorsTest, MessagesNameTheTensorAndTheField) {
  const Status status = decode(document(R"({"conv0":{"dtype":"F7","shape":[1],"data_offsets":[0,1]}})", 1)).status();
  EXPECT_EQ(status.message(), "safetensors header: tensor \"conv0\": field \"dtype\": unknown type \"F7\"");
}

}  // namespace
}  // namespace trainwarden::format
