#include "data/foreign/mcap.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <zlib.h>

namespace trainwarden::foreign {
namespace {

constexpr std::string_view kMagic("\x89MCAP0\r\n", 8);
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

enum class McapOp : std::uint8_t {
  kHeader = 0x01,
  kFooter = 0x02,
  kSchema = 0x03,
  kChannel = 0x04,
  kMessage = 0x05,
  kChunk = 0x06,
  kMessageIndex = 0x07,
  kChunkIndex = 0x08,
  kStatistics = 0x0B,
  kMetadata = 0x0C,
  kMetadataIndex = 0x0D,
  kSummaryOffset = 0x0E,
  kDataEnd = 0x0F,
};

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

// Text and arrays have their length in bytes before them.
void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

void put_words(std::string& out, const std::map<std::string, std::string>& words) {
  std::string pairs;
  for (const auto& [key, value] : words) {
    put_text(pairs, key);
    put_text(pairs, value);
  }
  put_text(out, pairs);
}

std::string record(McapOp op, std::string_view content) {
  std::string bytes(1, static_cast<char>(op));
  put(bytes, static_cast<std::uint64_t>(content.size()));
  bytes += content;
  return bytes;
}

// zlib counts in 32 bits.
std::uint32_t crc_of(std::string_view bytes, std::uint32_t crc = 0) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMost);
    crc = static_cast<std::uint32_t>(
        ::crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size())));
    bytes.remove_prefix(part.size());
  }
  return crc;
}

std::uint64_t time_of(std::int64_t unix_ns) {
  return unix_ns < 0 ? 0 : static_cast<std::uint64_t>(unix_ns);
}

}  // namespace

McapEncoder::McapEncoder(std::string_view library) {
  std::string content;
  put_text(content, "");  // no profile: the topics are nobody's convention
  put_text(content, library);
  emit(kMagic);
  emit(record(McapOp::kHeader, content));
}

void McapEncoder::emit(std::string_view bytes) {
  out += bytes;
  offset_ += bytes.size();
  crc_ = crc_of(bytes, crc_);
}

std::uint16_t McapEncoder::add_schema(std::string_view name, std::string_view json_schema) {
  const auto id = static_cast<std::uint16_t>(schemas_.size() + 1);
  std::string content;
  put(content, id);
  put_text(content, name);
  put_text(content, "jsonschema");
  put_text(content, json_schema);
  schemas_.push_back(record(McapOp::kSchema, content));
  schema_in_chunk_.push_back(false);
  return id;
}

std::optional<std::uint16_t> McapEncoder::add_channel(std::uint16_t schema, std::string_view topic) {
  if (channels_.size() == kMaxChannels) return std::nullopt;
  const auto id = static_cast<std::uint16_t>(channels_.size());
  std::string content;
  put(content, id);
  put(content, schema);
  put_text(content, topic);
  put_text(content, "json");
  put_words(content, {});
  channels_.push_back({0, false, record(McapOp::kChannel, content)});
  schema_of_channel_.push_back(schema);
  return id;
}

void McapEncoder::add_message(std::uint16_t channel_id, std::int64_t unix_ns, std::string_view message) {
  Channel& channel = channels_[channel_id];
  if (!channel.in_chunk) {
    const std::size_t schema = schema_of_channel_[channel_id] - std::size_t{1};
    if (!schema_in_chunk_[schema]) chunk_ += schemas_[schema];
    schema_in_chunk_[schema] = true;
    chunk_ += channel.record;
    channel.in_chunk = true;
  }
  const std::uint64_t time = time_of(unix_ns);
  const bool first = chunk_messages_.empty();
  chunk_first_time_ = first ? time : std::min(chunk_first_time_, time);
  chunk_last_time_ = first ? time : std::max(chunk_last_time_, time);
  chunk_messages_[channel_id].push_back({time, chunk_.size()});
  std::string content;
  content.reserve(message.size() + 22);
  put(content, channel_id);
  put(content, static_cast<std::uint32_t>(channel.messages));
  put(content, time);  // when it was logged
  put(content, time);  // when it was published
  content += message;
  chunk_ += record(McapOp::kMessage, content);
  ++channel.messages;
  ++messages_;
  if (chunk_.size() >= kChunkBytes) end_chunk();
}

void McapEncoder::end_chunk() {
  if (chunk_messages_.empty()) return;
  ChunkIndex index{.first_time = chunk_first_time_, .last_time = chunk_last_time_, .offset = offset_};
  index.content_bytes = chunk_.size();
  std::string content;
  put(content, index.first_time);
  put(content, index.last_time);
  put(content, index.content_bytes);
  put(content, crc_of(chunk_));
  put_text(content, "");  // not compressed
  put(content, index.content_bytes);
  content += chunk_;
  emit(record(McapOp::kChunk, content));
  index.bytes = offset_ - index.offset;
  const std::uint64_t indexes_begin = offset_;
  for (auto& [channel, places] : chunk_messages_) {
    std::stable_sort(places.begin(), places.end(),
                     [](const MessagePlace& a, const MessagePlace& b) { return a.time < b.time; });
    std::string entries;
    for (const MessagePlace& place : places) {
      put(entries, place.time);
      put(entries, place.offset);
    }
    std::string index_content;
    put(index_content, channel);
    put_text(index_content, entries);
    index.message_indexes[channel] = offset_;
    emit(record(McapOp::kMessageIndex, index_content));
  }
  index.message_index_bytes = offset_ - indexes_begin;
  chunks_.push_back(std::move(index));
  chunk_.clear();
  chunk_messages_.clear();
}

void McapEncoder::add_metadata(std::string_view name, const std::map<std::string, std::string>& words) {
  std::string content;
  put_text(content, name);
  put_words(content, words);
  const std::string bytes = record(McapOp::kMetadata, content);
  metadata_.push_back({offset_, bytes.size(), std::string(name)});
  emit(bytes);
}

std::string McapEncoder::chunk_indexes() const {
  std::string bytes;
  for (const ChunkIndex& chunk : chunks_) {
    std::string content;
    put(content, chunk.first_time);
    put(content, chunk.last_time);
    put(content, chunk.offset);
    put(content, chunk.bytes);
    std::string places;
    for (const auto& [channel, offset] : chunk.message_indexes) {
      put(places, channel);
      put(places, offset);
    }
    put_text(content, places);
    put(content, chunk.message_index_bytes);
    put_text(content, "");
    put(content, chunk.content_bytes);
    put(content, chunk.content_bytes);
    bytes += record(McapOp::kChunkIndex, content);
  }
  return bytes;
}

std::string McapEncoder::statistics() const {
  std::uint64_t first = chunks_.empty() ? 0 : std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = 0;
  for (const ChunkIndex& chunk : chunks_) {
    first = std::min(first, chunk.first_time);
    last = std::max(last, chunk.last_time);
  }
  std::string counts;
  for (std::size_t id = 0; id < channels_.size(); ++id) {
    put(counts, static_cast<std::uint16_t>(id));
    put(counts, channels_[id].messages);
  }
  std::string content;
  put(content, messages_);
  put(content, static_cast<std::uint16_t>(schemas_.size()));
  put(content, static_cast<std::uint32_t>(channels_.size()));
  put(content, std::uint32_t{0});  // attachments
  put(content, static_cast<std::uint32_t>(metadata_.size()));
  put(content, static_cast<std::uint32_t>(chunks_.size()));
  put(content, first);
  put(content, last);
  put_text(content, counts);
  return record(McapOp::kStatistics, content);
}

// Groups of records of one kind each, and where each group lies.
void McapEncoder::write_summary() {
  std::string schemas;
  for (const std::string& schema : schemas_) schemas += schema;
  std::string channels;
  for (const Channel& channel : channels_) channels += channel.record;
  std::string metadata;
  for (const MetadataIndex& index : metadata_) {
    std::string content;
    put(content, index.offset);
    put(content, index.bytes);
    put_text(content, index.name);
    metadata += record(McapOp::kMetadataIndex, content);
  }
  const std::pair<McapOp, std::string> groups[] = {{McapOp::kSchema, std::move(schemas)},
                                                   {McapOp::kChannel, std::move(channels)},
                                                   {McapOp::kStatistics, statistics()},
                                                   {McapOp::kChunkIndex, chunk_indexes()},
                                                   {McapOp::kMetadataIndex, std::move(metadata)}};
  const std::uint64_t summary_begin = offset_;
  crc_ = 0;
  std::string places;
  for (const auto& [op, bytes] : groups) {
    if (bytes.empty()) continue;
    std::string content(1, static_cast<char>(op));
    put(content, offset_);
    put(content, static_cast<std::uint64_t>(bytes.size()));
    places += record(McapOp::kSummaryOffset, content);
    emit(bytes);
  }
  const std::uint64_t places_begin = offset_;
  emit(places);
  std::string footer(1, static_cast<char>(McapOp::kFooter));
  put(footer, std::uint64_t{20});  // its own bytes
  put(footer, summary_begin);
  put(footer, places_begin);
  emit(footer);
  std::string crc;
  put(crc, crc_);
  emit(crc);
}

void McapEncoder::finish() {
  end_chunk();
  std::string content;
  put(content, crc_);
  emit(record(McapOp::kDataEnd, content));
  write_summary();
  emit(kMagic);
}

}  // namespace trainwarden::foreign
