#include "data/foreign/mcap.h"

#include <cstring>
#include <set>

#include <gtest/gtest.h>
#include <zlib.h>

namespace trainwarden::foreign {
namespace {

constexpr std::string_view kEnds("\x89MCAP0\r\n", 8);

template <class T>
T number_at(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.substr(offset, sizeof value).data(), sizeof value);
  return value;
}

struct FoundRecord {
  std::uint8_t op = 0;
  std::size_t offset = 0;  // of its first byte
  std::string_view content;
};

// The records in `bytes`, which must end with one.
std::vector<FoundRecord> records_of(std::string_view bytes) {
  std::vector<FoundRecord> records;
  for (std::size_t offset = 0; offset < bytes.size();) {
    const auto length = number_at<std::uint64_t>(bytes, offset + 1);
    EXPECT_LE(offset + 9 + length, bytes.size());
    records.push_back({static_cast<std::uint8_t>(bytes[offset]), offset, bytes.substr(offset + 9, length)});
    offset += 9 + length;
  }
  return records;
}

std::uint32_t zlib_crc(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

TEST(Mcap, AFileHasChunksTheirIndexesAndASummary) {
  McapEncoder file("tests");
  const std::uint16_t schema = file.add_schema("number", "{}");
  const auto channel = file.add_channel(schema, "/loss");
  ASSERT_TRUE(channel);
  file.add_message(*channel, 20, "{\"a\":1}");
  file.add_message(*channel, 10, "{\"a\":2}");
  file.add_metadata("run", {{"id", "7"}});
  file.finish();
  const std::string& bytes = file.out;
  ASSERT_TRUE(bytes.starts_with(kEnds) && bytes.ends_with(kEnds));
  std::vector<FoundRecord> records = records_of(std::string_view(bytes).substr(8, bytes.size() - 16));
  for (FoundRecord& record : records) record.offset += 8;
  std::vector<int> ops;
  for (const FoundRecord& record : records) ops.push_back(record.op);
  // The metadata were written while the chunk was still being filled.
  EXPECT_EQ(ops, std::vector<int>({1, 12, 6, 7, 15, 3, 4, 11, 8, 13, 14, 14, 14, 14, 14, 2}));

  const std::string_view chunk = records[2].content;
  EXPECT_EQ(number_at<std::uint64_t>(chunk, 0), 10u);
  EXPECT_EQ(number_at<std::uint64_t>(chunk, 8), 20u);
  const std::string_view packed = chunk.substr(40);
  EXPECT_EQ(number_at<std::uint64_t>(chunk, 16), packed.size());
  EXPECT_EQ(number_at<std::uint32_t>(chunk, 24), zlib_crc(packed));
  const std::vector<FoundRecord> in_chunk = records_of(packed);
  ASSERT_EQ(in_chunk.size(), 4u);  // schema, channel, two messages

  // By time: the second message first.
  const std::string_view index = records[3].content;
  EXPECT_EQ(number_at<std::uint64_t>(index, 6), 10u);
  EXPECT_EQ(number_at<std::uint64_t>(index, 14), in_chunk[3].offset);
  EXPECT_EQ(number_at<std::uint64_t>(index, 22), 20u);
  EXPECT_EQ(number_at<std::uint64_t>(index, 30), in_chunk[2].offset);

  const std::string_view footer = records.back().content;
  EXPECT_EQ(number_at<std::uint64_t>(footer, 0), records[5].offset);
  EXPECT_EQ(number_at<std::uint64_t>(footer, 8), records[10].offset);
  const std::size_t summary = records[5].offset;
  EXPECT_EQ(number_at<std::uint32_t>(footer, 16),
            zlib_crc(std::string_view(bytes).substr(summary, bytes.size() - 8 - 4 - summary)));
  const std::size_t data_end = records[4].offset;
  EXPECT_EQ(number_at<std::uint32_t>(records[4].content, 0), zlib_crc(std::string_view(bytes).substr(0, data_end)));
}

TEST(Mcap, ChunksEndAndEachTellsOnlyWhatIsNew) {
  McapEncoder file("tests");
  const auto channel = file.add_channel(file.add_schema("text", "{}"), "/text");
  const std::string message(400'000, 'x');
  for (int i = 0; i < 7; ++i) file.add_message(*channel, i, message);
  file.finish();
  std::size_t chunks = 0;
  std::size_t channels = 0;
  for (const FoundRecord& record : records_of(std::string_view(file.out).substr(8, file.out.size() - 16))) {
    if (record.op != 6) continue;
    ++chunks;
    for (const FoundRecord& inside : records_of(record.content.substr(40))) channels += inside.op == 4 ? 1 : 0;
  }
  EXPECT_EQ(chunks, 3u);
  EXPECT_EQ(channels, 1u);
}

TEST(Mcap, AFileWithoutMessagesIsWhole) {
  McapEncoder file("tests");
  file.finish();
  const auto records = records_of(std::string_view(file.out).substr(8, file.out.size() - 16));
  EXPECT_EQ(records.back().op, 2);
}

TEST(Mcap, ChannelsThatCannotBeNumberedAreRefused) {
  McapEncoder file("tests");
  const std::uint16_t schema = file.add_schema("number", "{}");
  std::set<std::uint16_t> ids;
  for (std::size_t i = 0; i < McapEncoder::kMaxChannels; ++i) ids.insert(*file.add_channel(schema, "/a"));
  EXPECT_EQ(ids.size(), McapEncoder::kMaxChannels);
  EXPECT_EQ(file.add_channel(schema, "/b"), std::nullopt);
}

}  // namespace
}  // namespace trainwarden::foreign
