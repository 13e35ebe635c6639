// SegmentScan: all that can be found in one segment, however damaged it is: its frames, what lies between them that is
// none, and what its index says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/read_budget.h"
#include "data/format/frame.h"
#include "data/format/records.h"
#include "store/journal/run_folder.h"
#include "store/journal/segment_decoder.h"
#include "store/journal/segment_file.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::upkeep {

// Whose segment it must be.
struct SegmentPlace {
  std::string run;  // its id
  std::string writer;
  std::uint64_t number = 0;

  std::string path() const;  // "journal/rank-00000/seg-00000001.tw"
  journal::FrameOwner owner() const;
};

enum class ScanDepth : std::uint8_t {
  kWalk,        // from header to header, and the index beside it
  kIndexFirst,  // a sealed segment by its index alone; the walk where that is not to be had
};

// One thread at a time; scans of several segments may go on at once.
class SegmentScan final : private journal::FrameSink {
 public:
  // `storage` must outlive it. `live`: its end is where the writer has got to, and no damage. Damage is no error:
  // errors are the storage's, kNotFound where there is no such file.
  static Result<std::unique_ptr<SegmentScan>> open(const storage::Storage& storage, SegmentPlace place, ScanDepth depth,
                                                   bool live = false);

  const SegmentPlace& place() const { return place_; }
  // By rising offset. Of a walk the headers as they lie there; by the index without their checksums.
  std::span<const format::FrameHeader> frames() const { return frames_; }
  std::span<const journal::Damage> damage() const { return damage_; }
  const std::optional<format::SegmentIndex>& index() const { return index_; }  // when it and the trailer are whole
  // Where a whole trailer says that the index lies.
  std::optional<std::uint64_t> index_offset() const { return index_offset_; }
  // The header at this place when it is whole, wherever it belongs.
  std::optional<format::FrameHeader> header_at(std::uint64_t offset);
  bool sealed() const { return sealed_; }          // its trailer is whole
  bool is_another() const { return is_another_; }  // it says so itself: nothing in it can be believed
  const std::optional<format::SegmentStart>& start() const { return start_; }
  // What the segment's ids stand for: the last name that each was given.
  const std::unordered_map<std::uint32_t, format::NameEntry>& names() const { return names_; }
  const std::unordered_map<std::uint32_t, Metric>& metrics() const { return metrics_; }
  std::uint64_t file_bytes() const { return file_bytes_; }

  // The payload, checked, valid until the next call of anything that reads. kDataLoss when it is damaged.
  Result<ByteSpan> payload(const format::FrameHeader& header);
  // Only checks it: of any length.
  Status verify(const format::FrameHeader& header);
  // The payload as it lies there, valid as long: for who looks at how much there is. Decoders take any bytes.
  Result<ByteSpan> unchecked_payload(const format::FrameHeader& header);
  // The tensors of a bundle, from its head alone, which is not checked. kDataLoss.
  Result<std::vector<format::BundleEntry>> bundle_entries(const format::FrameHeader& header);

 private:
  SegmentScan(const storage::Storage& storage, SegmentPlace place);

  void on_frame(const format::FrameHeader& header, ByteSpan payload) override;
  void on_damage(const journal::Damage& damage) override { damage_.push_back(damage); }
  void take_words(const format::FrameHeader& header, ByteSpan payload);
  Status walk(bool live);
  Status read_index();
  Status take_index();
  void add_undecodable(const format::FrameHeader& header);
  bool afford(std::uint64_t bytes, std::uint64_t offset);

  const SegmentPlace place_;
  ReadBudget budget_;
  journal::OpenFiles open_files_;
  journal::SegmentFile file_;
  std::uint64_t file_bytes_ = 0;
  std::vector<format::FrameHeader> frames_;
  std::vector<journal::Damage> damage_;
  std::optional<format::SegmentIndex> index_;
  std::optional<std::uint64_t> index_offset_;
  std::optional<format::SegmentStart> start_;
  std::unordered_map<std::uint32_t, format::NameEntry> names_;
  std::unordered_map<std::uint32_t, Metric> metrics_;
  bool sealed_ = false;
  bool is_another_ = false;
  bool is_full_ = false;  // no memory is left for more of it
};

}  // namespace trainwarden::upkeep
