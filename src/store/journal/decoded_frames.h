// DecodedFrames: the payloads of data frames, decoded when asked for. The last one of each kind is kept, and the heads
// of some bundles, because the tensors of a step are usually read one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "data/format/records.h"
#include "store/journal/journal_segment.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_value.h"

namespace trainwarden::journal {

// Of all methods: what they return is valid until the next call. kDataLoss when the frame is damaged, which is then
// also among the losses of the segment's journal.
class DecodedFrames {
 public:
  explicit DecodedFrames(bool verify_payloads) : verify_payloads_(verify_payloads) {}

  struct Bundle {
    format::FrameHeader header;
    std::vector<format::BundleEntry> entries;
  };
  // Reads the payload's head only.
  Result<const Bundle*> bundle(JournalSegment& segment, std::uint64_t offset);
  Result<const format::StatisticsTable*> statistics(JournalSegment& segment, std::uint64_t offset);
  Result<std::span<const format::ScalarRow>> scalars(JournalSegment& segment, std::uint64_t offset);
  Result<std::span<const format::ReductionRow>> reductions(JournalSegment& segment, std::uint64_t offset);
  Result<ByteSpan> event(JournalSegment& segment, std::uint64_t offset, format::FrameKind kind);
  Result<const format::SampleTableReader*> samples(JournalSegment& segment, std::uint64_t offset);
  // With the step and the mode of the frame's header; kDataLoss when that is another step. Kept by nobody but the
  // caller.
  Result<format::OperatorPart> operators(JournalSegment& segment, std::uint64_t offset, std::int64_t step);

  // The bytes of one entry. The bundle's payload is verified the first time.
  Result<ByteSpan> entry_bytes(JournalSegment& segment, const Bundle& bundle, const format::BundleEntry& entry);
  // The same into memory of the caller's, of the entry's size: large ones are then read and verified at once.
  Status check_entry(JournalSegment& segment, const Bundle& bundle);  // may so much be read? Before memory is taken
  Status read_entry(JournalSegment& segment, const Bundle& bundle, const format::BundleEntry& entry,
                    MutableByteSpan into);
  // The same where the file lies in memory. kUnimplemented when it cannot, and for strings.
  Result<SharedTensorValue> map_entry(JournalSegment& segment, const Bundle& bundle, const format::BundleEntry& entry);
  Status verify(JournalSegment& segment, const format::FrameHeader& header);

 private:
  template <class T>
  struct Kept {
    const JournalSegment* segment = nullptr;
    std::uint64_t offset = 0;
    T value;
    bool is(const JournalSegment& other, std::uint64_t other_offset) const {
      return segment == &other && offset == other_offset;
    }
  };

  Result<format::FrameHeader> header_of(JournalSegment& segment, std::uint64_t offset, format::FrameKind kind);
  Result<ByteSpan> payload_of(JournalSegment& segment, const format::FrameHeader& header);

  const bool verify_payloads_;
  std::list<Kept<Bundle>> bundles_;                  // the one that was used last is the first
  std::size_t kept_entries_ = 0;                     // of all of them
  Kept<std::vector<std::byte>> statistics_payload_;  // which the table looks into
  std::optional<format::StatisticsTable> statistics_;
  Kept<std::span<const format::ScalarRow>> scalars_;  // that the decoder holds
  format::ScalarsDecoder scalars_decoder_;
  Kept<std::vector<format::ReductionRow>> reductions_;
  std::vector<std::byte> samples_payload_;  // of the last samples(), which the table looks into
  std::optional<format::SampleTableReader> samples_;
};

}  // namespace trainwarden::journal
