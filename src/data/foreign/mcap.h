// MCAP: the container for logs of robots. Chunks of messages by channel and time, and an index of them at the end.
// Source: mcap.dev, "MCAP Format Specification".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainwarden::foreign {

// Writes a file from its beginning to its end. Its bytes gather in `out`, from where they may be taken at any time.
class McapEncoder {
 public:
  // The format numbers schemas and channels by 16 bits, and a schema 0 means none.
  static constexpr std::size_t kMaxChannels = 65'535;

  explicit McapEncoder(std::string_view library);

  std::string out;

  // JSON Schema of messages in JSON.
  std::uint16_t add_schema(std::string_view name, std::string_view json_schema);
  // Of messages in JSON. `topic` is UTF-8. None when there are kMaxChannels.
  std::optional<std::uint16_t> add_channel(std::uint16_t schema, std::string_view topic);
  void add_message(std::uint16_t channel, std::int64_t unix_ns, std::string_view message);
  // Named words about the whole.
  void add_metadata(std::string_view name, const std::map<std::string, std::string>& words);
  // The rest of the messages, the index and the end. Once, and nothing after it.
  void finish();

 private:
  struct Channel {
    std::uint64_t messages = 0;
    bool in_chunk = false;  // it has been told of in a chunk
    std::string record;
  };
  struct MessagePlace {
    std::uint64_t time = 0;
    std::uint64_t offset = 0;  // in the chunk
  };
  struct ChunkIndex {
    std::uint64_t first_time = 0;
    std::uint64_t last_time = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::map<std::uint16_t, std::uint64_t> message_indexes;  // where they lie, by channel
    std::uint64_t message_index_bytes = 0;
    std::uint64_t content_bytes = 0;
  };
  struct MetadataIndex {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::string name;
  };

  void emit(std::string_view bytes);
  void end_chunk();
  std::string chunk_indexes() const;
  std::string statistics() const;
  void write_summary();

  std::uint64_t offset_ = 0;  // of the byte behind `out`, in the file
  std::uint32_t crc_ = 0;     // of all that was emitted
  std::vector<std::string> schemas_;
  std::vector<bool> schema_in_chunk_;
  std::vector<std::uint16_t> schema_of_channel_;
  std::vector<Channel> channels_;
  std::string chunk_;
  std::uint64_t chunk_first_time_ = 0;
  std::uint64_t chunk_last_time_ = 0;
  std::map<std::uint16_t, std::vector<MessagePlace>> chunk_messages_;
  std::vector<ChunkIndex> chunks_;
  std::vector<MetadataIndex> metadata_;
  std::uint64_t messages_ = 0;
};

}  // namespace trainwarden::foreign
