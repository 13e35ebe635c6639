// Run folders as nobody writes them by mistake: any frames, records and lengths, with checksums computed anew.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "data/format/frame.h"
#include "data/format/segment_index.h"

namespace trainwarden::hostile {

inline constexpr const char* kRunId = "00112233445566778899aabbccddeeff";

// Bytes of a file, some of which are holes.
class SparseFile {
 public:
  void append(ByteSpan bytes);
  void append(std::string_view bytes) { append(as_bytes(bytes)); }
  void append_hole(std::uint64_t bytes) { size_ += bytes; }
  void pad_to(std::uint64_t alignment) { size_ = align_up(size_, alignment); }
  std::uint64_t size() const { return size_; }
  void write(const std::filesystem::path& path) const;  // with the folders above it

 private:
  struct Part {
    std::uint64_t offset = 0;
    std::string bytes;
  };
  std::vector<Part> parts_;
  std::uint64_t size_ = 0;
};

// One segment: frames as they are told, each with good checksums. `change` may alter a header before it is sealed.
class CraftedSegment {
 public:
  using Change = std::function<void(format::FrameHeader&)>;

  explicit CraftedSegment(std::string writer = "rank-00000", std::uint64_t number = 0, bool with_start = true);

  // Where the frame lies.
  std::uint64_t add(format::FrameKind kind, std::string_view payload, std::int64_t step = -1,
                    const Change& change = nullptr);
  // A payload of `text` and zeros behind it that no disk holds.
  std::uint64_t add_hole(format::FrameKind kind, std::string_view text, std::uint64_t hole_bytes,
                         std::int64_t step = -1, std::uint16_t flags = 0);
  void add_raw(std::string_view bytes) { file_.append(bytes); }
  void add_names(const std::vector<std::string>& names, const std::vector<std::string>& collections = {});
  // A step with one scalar of the tensor with this id, ended.
  void add_scalar_step(std::int64_t step, std::uint32_t id, double value);
  void end_step(std::int64_t step, std::int64_t mode_step = -2);  // -2: as the step

  // Index and trailer. The index begins as what was added.
  void seal(const std::function<void(format::SegmentIndex&)>& change = nullptr);
  void seal_with(std::string_view index_payload, std::uint64_t hole_bytes, std::uint32_t frames);

  format::SegmentIndex& index() { return index_; }
  void write(const std::filesystem::path& run) const;

 private:
  std::uint64_t append(format::FrameKind kind, std::string_view text, std::uint64_t hole_bytes, std::int64_t step,
                       const Change& change);

  const std::string writer_;
  const std::uint64_t number_;
  SparseFile file_;
  format::SegmentIndex index_;
  std::uint64_t sequence_ = 0;
  std::uint32_t first_frame_of_step_ = 0;
  std::uint32_t first_record_of_step_ = 0;
};

std::string run_json(int world_size = 1);
void write_text(const std::filesystem::path& path, std::string_view text);
// run.json and an intact segment: the scalar "anchor" is 42.5 at step 7.
void write_anchor(const std::filesystem::path& run);
inline constexpr const char* kAnchor = "anchor";
inline constexpr std::int64_t kAnchorStep = 7;
inline constexpr double kAnchorValue = 42.5;

// A segment's bytes with the checksums of all headers and payloads computed anew where a header can be found: what a
// mutation has damaged becomes what somebody has written.
std::string resealed(std::string segment);

// A TFRecord around any payload, with good checksums.
std::string tf_record(std::string_view payload);

}  // namespace trainwarden::hostile
