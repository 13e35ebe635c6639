// SegmentFile: a segment's file, read by place and checked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/large_memory.h"
#include "core/base/read_budget.h"
#include "data/format/frame.h"
#include "store/journal/open_files.h"
#include "store/journal/segment_decoder.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::journal {

// One thread at a time. The file is opened when it is needed. Small reads that lie near each other are served from one
// larger read. What is read as a whole must stand behind what the file occupies: kResourceExhausted when it does not.
class SegmentFile {
 public:
  // `storage`, `budget` and `open_files` must outlive it. The budget earns what the file occupies.
  SegmentFile(const storage::Storage& storage, ReadBudget& budget, OpenFiles& open_files, std::string path)
      : storage_(storage), budget_(budget), open_files_(open_files), path_(std::move(path)) {}
  ~SegmentFile() { close(); }
  SegmentFile(const SegmentFile&) = delete;
  SegmentFile& operator=(const SegmentFile&) = delete;

  const std::string& path() const { return path_; }
  Result<std::uint64_t> bytes();

  // All bytes of the range, valid until the next call of anything here. kDataLoss when the file ends before.
  Result<ByteSpan> read(ByteRange range);

  // kDataLoss when there is no whole header of this kind at `offset`, or when it is refused.
  Result<format::FrameHeader> header_at(std::uint64_t offset, format::FrameKind kind, const FrameOwner& owner);
  // The payload, decompressed if need be, valid until the next call of anything here. kDataLoss when it is damaged.
  Result<ByteSpan> payload_of(const format::FrameHeader& header);
  // The same in memory of its own, for what is large and needed for long.
  Result<LargeBytes> own_payload(const format::FrameHeader& header);
  // What a compressed payload that was read says, valid as long. kResourceExhausted when the file is too small for it.
  Result<ByteSpan> content_of(ByteSpan payload);
  // Reads the payload and checks its CRC, and what it says when it is compressed, the first time. kDataLoss when it is
  // damaged.
  Status verify_payload(const format::FrameHeader& header);

  // Does the payload stand behind what the file occupies? Every method that reads a whole payload asks it.
  Status check_payload(const format::FrameHeader& header) const;

  // Reads so much of the payload from `begin` on into the caller's memory. With `verify` the payload is checked the
  // first time, in the same pass. kDataLoss when it is damaged, or ends before.
  Status read_part(const format::FrameHeader& header, std::uint64_t begin, MutableByteSpan into, bool verify);

  // The whole file in memory; for segments that are over. The errors of ReadableFile::map().
  Result<std::shared_ptr<const storage::FileMapping>> map();

  // The same on the bytes of map() as far as they are in memory.
  Status verify_mapped_payload(const format::FrameHeader& header);

  // Forgets what was read ahead: the end of a growing file may have been half of a write.
  void forget() { buffered_bytes_ = 0; }
  // Closes the file until it is needed again; what was read stays valid.
  void close();
  // The same, and gives all memory back.
  void release();
  // Gives back what was read ahead: a run may have many journals that grow.
  void rest();

 private:
  Status ensure_open();
  Status measure(const storage::ReadableFile& file);
  Status fill(std::uint64_t offset, std::uint64_t bytes);
  Result<std::uint32_t> crc_of(ByteRange range, std::uint32_t crc = 0);
  Status read_directly(std::uint64_t offset, MutableByteSpan into, std::uint32_t* crc);
  Status verify_content(const format::FrameHeader& header);
  Status damaged_payload(const format::FrameHeader& header) const;

  const storage::Storage& storage_;
  ReadBudget& budget_;
  OpenFiles& open_files_;
  const std::string path_;
  std::unique_ptr<storage::ReadableFile> file_;
  OpenFiles::Turn turn_;            // of file_, where there is one
  std::uint64_t stored_bytes_ = 0;  // that the file was seen to occupy
  std::vector<std::byte> buffer_;
  std::vector<std::byte> content_;  // of the last payload that was compressed
  std::uint64_t buffer_offset_ = 0;
  std::uint64_t buffered_bytes_ = 0;
  std::uint64_t read_ahead_bytes_ = 0;
  std::uint64_t known_bytes_ = 0;  // the file is at least that long
  std::shared_ptr<const storage::FileMapping> mapping_;
  std::unordered_set<std::uint64_t> verified_;  // offsets of frames whose payloads were found whole
};

}  // namespace trainwarden::journal
