#include "data/format/compact_headers.h"

#include <string>

#include <gtest/gtest.h>

#include "core/base/bytes.h"

namespace trainwarden::format {
namespace {

// A blank behind the first brace changes nothing but who reads it.
std::string written_otherwise(std::string json) {
  return json.insert(1, " ");
}

Result<SafetensorsHeader> read_with_care(const std::string& json, std::size_t data_bytes) {
  const std::string other = written_otherwise(json);
  std::string whole(8, '\0');
  store_le(std::as_writable_bytes(std::span(whole)), 0, static_cast<std::uint64_t>(other.size()));
  whole += other + std::string(data_bytes, 'x');
  return decode_safetensors_header(as_bytes(whole), whole.size());
}

TEST(CompactHeadersTest, ReadNamesAsTheyAreWritten) {
  const std::vector<NameEntry> entries = {
      {0, "conv.weight", {"weights", "all"}}, {4294967295, "loss", {}}, {7, "__metadata__", {"odd%name"}}};
  const std::string json = encode_names(entries);
  const auto compact = read_compact_names(json);
  ASSERT_TRUE(compact);
  EXPECT_EQ(compact->tensors, entries);
  EXPECT_FALSE(read_compact_names(written_otherwise(json)));
  EXPECT_EQ(decode_names(written_otherwise(json)).value_or({}), *compact);
  EXPECT_TRUE(read_compact_names(encode_names({})));
}

TEST(CompactHeadersTest, DeclineNamesThatNeedCare) {
  const std::string good = R"({"tensors":[{"id":1,"name":"a","collections":["b"]}]})";
  ASSERT_TRUE(read_compact_names(good));
  for (const auto& [what, by] :
       std::initializer_list<std::pair<const char*, const char*>>{{"\"id\":1", "\"id\":-1"},
                                                                  {"\"id\":1", "\"id\":01"},
                                                                  {"\"id\":1", "\"id\":1.0"},
                                                                  {"\"id\":1", "\"id\":4294967296"},
                                                                  {"\"id\":1", "\"id\":18446744073709551617"},
                                                                  {"\"a\"", "\"\\u0061\""},
                                                                  {"\"a\"", "\"\xC3\xA9\""},
                                                                  {"\"a\"", "\"\x7F\""},
                                                                  {"\"a\"", "\"\n\""},
                                                                  {"\"a\"", "\"%4\""},
                                                                  {"\"a\"", "\"__metadata__\""},
                                                                  {"\"a\"", "\"a"},
                                                                  {"[\"b\"]", "[\"b\",]"},
                                                                  {"[\"b\"]", "[,\"b\"]"},
                                                                  {"]}]}", "],\"id\":2}]}"},
                                                                  {"]}]}", "]}],\"tensors\":[]}"},
                                                                  {"]}]}", "]}]"},
                                                                  {"]}]}", "]}]} {}"}}) {
    std::string other = good;
    other.replace(other.find(what), std::string(what).size(), by);
    EXPECT_FALSE(read_compact_names(other)) << other;
  }
}

TEST(CompactHeadersTest, ReadSafetensorsAsTheyAreWritten) {
  const std::string written = encode_safetensors_header({{"b", DType::kFloat32, {2, 3}}, {"a", DType::kBool, {}}},
                                                        {{"dtype:b", "float32"}, {"made", "here"}});
  const auto compact = read_compact_safetensors(std::string_view(written).substr(8));
  ASSERT_TRUE(compact);
  const auto careful = read_with_care(written.substr(8), 25);
  ASSERT_TRUE(careful.ok()) << careful.status().to_string();
  EXPECT_EQ(compact->entries, careful->entries);
  EXPECT_EQ(compact->metadata, careful->metadata);
  EXPECT_EQ(compact->entries[0], (SafetensorsEntry{"b", DType::kFloat32, {2, 3}, 0, 24}));
}

TEST(CompactHeadersTest, DeclineSafetensorsThatNeedCare) {
  const std::string good = R"({"__metadata__":{"k":"v"},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  ASSERT_TRUE(read_compact_safetensors(good));
  for (const auto& [what, by] : std::initializer_list<std::pair<const char*, const char*>>{
           {"U8", "U9"},
           {"[2]", "[-2]"},
           {"[2]", "[3]"},
           {"[2]", "[9223372036854775808]"},
           {"[0,2]", "[2,0]"},
           {"[0,2]", "[0,2,2]"},
           {"[0,2]", "[0]"},
           {"\"v\"", "1"},
           {"\"v\"", "\"v\",\"k\":\"w\""},
           {"2]}}", "2]},\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}"},
           {"2]}}", "2]},\"__metadata__\":{}}"},
           {"2]}}", "2]},}"},
           {"\"dtype\":\"U8\",\"shape\":[2]", "\"shape\":[2],\"dtype\":\"U8\""}}) {
    std::string other = good;
    other.replace(other.find(what), std::string(what).size(), by);
    EXPECT_FALSE(read_compact_safetensors(other)) << other;
  }
}

}  // namespace
}  // namespace trainwarden::format
