#include "store/journal/decoded_frames.h"

#include <algorithm>
#include <utility>

#include "data/format/safetensors.h"

namespace trainwarden::journal {

using format::FrameHeader;
using format::FrameKind;

namespace {

constexpr std::uint64_t kLengthFieldBytes = 8;  // of a safetensors document
constexpr std::size_t kMostKeptEntries = 8192;
constexpr std::size_t kMostKeptBundles = 128;
constexpr std::size_t kLargeEntryBytes = std::size_t{256} << 10;

// Counts damage where it is found, and passes the status on. `cause` when it is not the budget. What a living process
// writes may be here in parts, and whole the next time.
Status noted(JournalSegment& segment, std::uint64_t offset, std::string_view cause, std::uint64_t bytes,
             const Status& status) {
  if (segment.may_grow && status.code() == Code::kDataLoss) {
    segment.file.forget();
    return Status(Code::kUnavailable, "it has not come whole yet: " + status.message());
  }
  if (is_damage(status)) segment.intake.add_damage(offset, cause_of(status, cause), 1, bytes);
  return status;
}

Result<std::vector<format::BundleEntry>> read_entries(SegmentFile& file, const FrameHeader& header) {
  const std::uint64_t payload_offset = header.file_offset + format::kFrameHeaderBytes;
  if (header.payload_bytes < kLengthFieldBytes) return Status(Code::kDataLoss, "a bundle without a header");
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan length_field, file.read({payload_offset, kLengthFieldBytes}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t head_bytes,
                               format::safetensors_header_bytes(length_field, header.payload_bytes));
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan head, file.read({payload_offset, head_bytes}));
  return format::decode_bundle(head, header.payload_bytes);
}

Mode mode_of(const FrameHeader& header) {
  constexpr std::uint16_t kModeBits = 7;
  const auto mode = static_cast<Mode>(header.flags & kModeBits);
  return mode >= Mode::kTrain && mode <= Mode::kGlobal ? mode : Mode::kGlobal;
}

}  // namespace

Result<FrameHeader> DecodedFrames::header_of(JournalSegment& segment, std::uint64_t offset, FrameKind kind) {
  Result<FrameHeader> header = segment.file.header_at(offset, kind, segment.decoder.owner());
  if (!header.ok()) return noted(segment, offset, kDamagedHeader, format::kFrameHeaderBytes, header.status());
  return header;
}

Result<ByteSpan> DecodedFrames::payload_of(JournalSegment& segment, const FrameHeader& header) {
  Result<ByteSpan> payload = segment.file.payload_of(header);
  if (payload.ok()) return payload;
  return noted(segment, header.file_offset, kDamagedPayload, header.frame_bytes(), payload.status());
}

Status DecodedFrames::verify(JournalSegment& segment, const FrameHeader& header) {
  return noted(segment, header.file_offset, kDamagedPayload, header.frame_bytes(), segment.file.verify_payload(header));
}

Result<const DecodedFrames::Bundle*> DecodedFrames::bundle(JournalSegment& segment, std::uint64_t offset) {
  const auto known =
      std::find_if(bundles_.begin(), bundles_.end(), [&](const auto& kept) { return kept.is(segment, offset); });
  if (known != bundles_.end()) {
    bundles_.splice(bundles_.begin(), bundles_, known);
    return &bundles_.front().value;
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const FrameHeader header, header_of(segment, offset, FrameKind::kBundle));
  Result<std::vector<format::BundleEntry>> entries = read_entries(segment.file, header);
  if (!entries.ok()) return noted(segment, offset, kUndecodable, header.frame_bytes(), entries.status());
  kept_entries_ += entries->size();
  bundles_.push_front({&segment, offset, {header, std::move(*entries)}});
  while (bundles_.size() > 1 && (kept_entries_ > kMostKeptEntries || bundles_.size() > kMostKeptBundles)) {
    kept_entries_ -= bundles_.back().value.entries.size();
    bundles_.pop_back();
  }
  return &bundles_.front().value;
}

Result<ByteSpan> DecodedFrames::entry_bytes(JournalSegment& segment, const Bundle& bundle,
                                            const format::BundleEntry& entry) {
  if (verify_payloads_) TRAINWARDEN_RETURN_IF_ERROR(verify(segment, bundle.header));
  const std::uint64_t payload_offset = bundle.header.file_offset + format::kFrameHeaderBytes;
  return segment.file.read({payload_offset + entry.begin, entry.end - entry.begin});
}

Status DecodedFrames::check_entry(JournalSegment& segment, const Bundle& bundle) {
  const FrameHeader& header = bundle.header;
  return noted(segment, header.file_offset, kDamagedPayload, header.frame_bytes(), segment.file.check_payload(header));
}

Status DecodedFrames::read_entry(JournalSegment& segment, const Bundle& bundle, const format::BundleEntry& entry,
                                 MutableByteSpan into) {
  const FrameHeader& header = bundle.header;
  if (into.size() < kLargeEntryBytes) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan bytes, entry_bytes(segment, bundle, entry));
    std::copy(bytes.begin(), bytes.end(), into.begin());
    return Status();
  }
  return noted(segment, header.file_offset, kDamagedPayload, header.frame_bytes(),
               segment.file.read_part(header, entry.begin, into, verify_payloads_));
}

Result<SharedTensorValue> DecodedFrames::map_entry(JournalSegment& segment, const Bundle& bundle,
                                                   const format::BundleEntry& entry) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto mapping, segment.file.map());
  if (verify_payloads_) {
    const FrameHeader& header = bundle.header;
    TRAINWARDEN_RETURN_IF_ERROR(noted(segment, header.file_offset, kDamagedPayload, header.frame_bytes(),
                                      segment.file.verify_mapped_payload(header)));
  }
  const std::uint64_t begin = bundle.header.file_offset + format::kFrameHeaderBytes + entry.begin;
  const std::uint64_t bytes = entry.end - entry.begin;
  const TensorView view = TensorView::of(mapping->bytes().data() + begin, entry.dtype, entry.shape);
  const bool aligned = reinterpret_cast<std::uintptr_t>(view.data) % item_bytes(entry.dtype) == 0;
  const bool whole = bytes == view.packed_bytes() && begin + bytes <= mapping->bytes().size();
  if (entry.dtype == DType::kString || !aligned || !whole) {
    return Status(Code::kUnimplemented, "the tensor does not lie in the file as it would in memory; read it");
  }
  return SharedTensorValue{view, std::move(mapping), true};
}

Result<const format::StatisticsTable*> DecodedFrames::statistics(JournalSegment& segment, std::uint64_t offset) {
  if (statistics_payload_.is(segment, offset)) return &*statistics_;
  statistics_.reset();
  statistics_payload_.segment = nullptr;
  TRAINWARDEN_ASSIGN_OR_RETURN(const FrameHeader header, header_of(segment, offset, FrameKind::kStatistics));
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload, payload_of(segment, header));
  statistics_payload_.value.assign(payload.begin(), payload.end());
  Result<format::StatisticsTable> table = format::StatisticsTable::open(statistics_payload_.value);
  if (!table.ok()) return noted(segment, offset, kUndecodable, header.frame_bytes(), table.status());
  statistics_ = std::move(*table);
  statistics_payload_.segment = &segment;
  statistics_payload_.offset = offset;
  return &*statistics_;
}

Result<std::span<const format::ScalarRow>> DecodedFrames::scalars(JournalSegment& segment, std::uint64_t offset) {
  if (!scalars_.is(segment, offset)) {
    scalars_.segment = nullptr;
    TRAINWARDEN_ASSIGN_OR_RETURN(const FrameHeader header, header_of(segment, offset, FrameKind::kScalars));
    TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload, payload_of(segment, header));
    const auto rows = scalars_decoder_.decode(payload);
    if (!rows.ok()) return noted(segment, offset, kUndecodable, header.frame_bytes(), rows.status());
    scalars_ = {&segment, offset, *rows};
  }
  return scalars_.value;
}

Result<std::span<const format::ReductionRow>> DecodedFrames::reductions(JournalSegment& segment, std::uint64_t offset) {
  if (!reductions_.is(segment, offset)) {
    reductions_.segment = nullptr;
    TRAINWARDEN_ASSIGN_OR_RETURN(const FrameHeader header, header_of(segment, offset, FrameKind::kReductions));
    TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload, payload_of(segment, header));
    Result<std::vector<format::ReductionRow>> rows = format::decode_reductions(payload);
    if (!rows.ok()) return noted(segment, offset, kUndecodable, header.frame_bytes(), rows.status());
    reductions_ = {&segment, offset, std::move(*rows)};
  }
  return std::span<const format::ReductionRow>(reductions_.value);
}

Result<ByteSpan> DecodedFrames::event(JournalSegment& segment, std::uint64_t offset, FrameKind kind) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const FrameHeader header, header_of(segment, offset, kind));
  return payload_of(segment, header);
}

// Frames of samples are read one after the other, each once.
Result<const format::SampleTableReader*> DecodedFrames::samples(JournalSegment& segment, std::uint64_t offset) {
  samples_.reset();
  TRAINWARDEN_ASSIGN_OR_RETURN(const FrameHeader header, header_of(segment, offset, FrameKind::kSamples));
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload, payload_of(segment, header));
  samples_payload_.assign(payload.begin(), payload.end());
  Result<format::SampleTableReader> table = format::SampleTableReader::open(samples_payload_);
  if (!table.ok()) return noted(segment, offset, kUndecodable, header.frame_bytes(), table.status());
  samples_ = *std::move(table);
  return &*samples_;
}

Result<format::OperatorPart> DecodedFrames::operators(JournalSegment& segment, std::uint64_t offset,
                                                      std::int64_t step) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const FrameHeader header, header_of(segment, offset, FrameKind::kOperators));
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload, payload_of(segment, header));
  Result<format::OperatorPart> part = format::decode_operators(payload);
  if (part.ok() && header.step != step) part = Status(Code::kDataLoss, "operator calls of another step");
  if (!part.ok()) return noted(segment, offset, kUndecodable, header.frame_bytes(), part.status());
  part->batch.global_step = header.step;
  part->batch.mode = mode_of(header);
  return part;
}

}  // namespace trainwarden::journal
