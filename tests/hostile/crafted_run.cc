#include "crafted_run.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "../../fuzz/sealed_frames.h"
#include "core/base/crc32c.h"
#include "data/foreign/tf_record.h"
#include "data/format/names_record.h"
#include "data/format/scalars_record.h"
#include "data/format/segment_start.h"
#include "data/format/step_end.h"
#include "store/journal/run_folder.h"

namespace trainwarden::hostile {

using format::FrameHeader;
using format::FrameKind;

namespace {

std::uint32_t crc_with_zeros(std::string_view text, std::uint64_t zero_bytes) {
  static const std::string zeros(1 << 20, '\0');
  std::uint32_t crc = crc32c(as_bytes(text));
  while (zero_bytes > 0) {
    const std::uint64_t part = std::min<std::uint64_t>(zero_bytes, zeros.size());
    crc = crc32c(as_bytes(zeros).first(part), crc);
    zero_bytes -= part;
  }
  return crc;
}

std::uint32_t salt() {
  return crc32c(as_bytes(std::string_view(kRunId)));
}

}  // namespace

void SparseFile::append(ByteSpan bytes) {
  if (parts_.empty() || parts_.back().offset + parts_.back().bytes.size() != size_) parts_.push_back({size_, {}});
  parts_.back().bytes += as_text(bytes);
  size_ += bytes.size();
}

void SparseFile::write(const std::filesystem::path& path) const {
  std::filesystem::create_directories(path.parent_path());
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool good = file >= 0 && ::ftruncate(file, static_cast<off_t>(size_)) == 0;
  for (const Part& part : parts_) {
    good = good && ::pwrite(file, part.bytes.data(), part.bytes.size(), static_cast<off_t>(part.offset)) ==
                       static_cast<ssize_t>(part.bytes.size());
  }
  if (file >= 0) ::close(file);
  if (!good) throw std::runtime_error("cannot write " + path.string());
}

CraftedSegment::CraftedSegment(std::string writer, std::uint64_t number, bool with_start)
    : writer_(std::move(writer)), number_(number) {
  if (!with_start) return;
  format::SegmentStart start;
  start.run = kRunId;
  start.writer = writer_;
  start.writer_id = journal::writer_id_of(writer_).value_or(0);
  start.segment = number_;
  add(FrameKind::kSegmentStart, format::encode_segment_start(start));
}

std::uint64_t CraftedSegment::add(FrameKind kind, std::string_view payload, std::int64_t step, const Change& change) {
  return append(kind, payload, 0, step, change);
}

std::uint64_t CraftedSegment::add_hole(FrameKind kind, std::string_view text, std::uint64_t hole_bytes,
                                       std::int64_t step, std::uint16_t flags) {
  return append(kind, text, hole_bytes, step, [flags](FrameHeader& header) { header.flags = flags; });
}

std::uint64_t CraftedSegment::append(FrameKind kind, std::string_view text, std::uint64_t hole_bytes, std::int64_t step,
                                     const Change& change) {
  FrameHeader header;
  header.kind = kind;
  header.payload_crc = crc_with_zeros(text, hole_bytes);
  header.payload_bytes = text.size() + hole_bytes;
  header.file_offset = file_.size();
  header.sequence = sequence_++;
  header.step = step;
  header.writer_id = journal::writer_id_of(writer_).value_or(0);
  header.run_salt = salt();
  header.unix_ns = 1'700'000'000'000'000'000;
  if (change) change(header);
  const std::uint64_t offset = file_.size();
  const auto bytes = format::encode_frame_header(header);
  file_.append(ByteSpan(bytes));
  file_.append(text);
  file_.append_hole(hole_bytes);
  file_.pad_to(format::kFrameAlignment);
  index_.frames.push_back({offset, kind, step, header.payload_bytes, header.unix_ns});
  return offset;
}

void CraftedSegment::add_names(const std::vector<std::string>& names, const std::vector<std::string>& collections) {
  std::vector<format::NameEntry> entries;
  for (const std::string& name : names)
    entries.push_back({static_cast<std::uint32_t>(entries.size()), name, collections});
  add(FrameKind::kNames, format::encode_names(entries));
}

void CraftedSegment::add_scalar_step(std::int64_t step, std::uint32_t id, double value) {
  const format::ScalarRow row{id, value};
  add(FrameKind::kScalars, format::encode_scalars(std::span(&row, 1)), step);
  index_.records.push_back({id, format::RecordForm::kScalar, static_cast<std::uint32_t>(index_.frames.size() - 1), 0});
  end_step(step);
}

void CraftedSegment::end_step(std::int64_t step, std::int64_t mode_step) {
  format::StepEndRecord end;
  end.mode = Mode::kTrain;
  end.mode_step = mode_step == -2 ? step : mode_step;
  add(FrameKind::kStepEnd, format::encode_step_end(end), step);
  format::StepIndexRow row;
  row.global_step = step;
  row.mode = end.mode;
  row.mode_step = end.mode_step;
  row.frame = static_cast<std::uint32_t>(index_.frames.size() - 1);
  row.first_record = first_record_of_step_;
  row.record_count = static_cast<std::uint32_t>(index_.records.size()) - first_record_of_step_;
  first_record_of_step_ = static_cast<std::uint32_t>(index_.records.size());
  index_.steps.push_back(row);
}

void CraftedSegment::seal(const std::function<void(format::SegmentIndex&)>& change) {
  format::SegmentIndex index = index_;
  if (change) change(index);
  seal_with(format::encode_segment_index(index), 0, static_cast<std::uint32_t>(index.frames.size()));
}

void CraftedSegment::seal_with(std::string_view index_payload, std::uint64_t hole_bytes, std::uint32_t frames) {
  format::Trailer trailer;
  trailer.index_offset = add_hole(FrameKind::kIndex, index_payload, hole_bytes);
  trailer.frames = frames;
  add(FrameKind::kTrailer, format::encode_trailer(trailer));
}

void CraftedSegment::write(const std::filesystem::path& run) const {
  file_.write(run / journal::journal_folder(writer_) / journal::segment_file(number_));
}

std::string run_json(int world_size) {
  journal::RunInfo info;
  info.id = kRunId;
  info.created_unix_ns = 1'700'000'000'000'000'000;
  info.world_size = world_size;
  info.host = "host";
  info.command = {"train"};
  return journal::encode_run_info(info);
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

void write_anchor(const std::filesystem::path& run) {
  write_text(run / journal::kRunFile, run_json());
  CraftedSegment segment;
  segment.add_names({kAnchor}, {"losses"});
  segment.add_scalar_step(kAnchorStep, 0, kAnchorValue);
  segment.seal();
  segment.write(run);
}

std::string resealed(std::string segment) {
  for (std::size_t at = 0; at < segment.size(); at += format::kFrameAlignment) {
    if (!fuzz::is_header_at(segment, at)) continue;
    const auto payload_bytes = fuzz::seal_checksums(segment, at);
    if (payload_bytes) at += align_up(*payload_bytes, format::kFrameAlignment);
  }
  return segment;
}

std::string tf_record(std::string_view payload) {
  std::string record;
  foreign::append_record(record, as_bytes(payload), foreign::RecordFooter::kPayloadCrc);
  return record;
}

}  // namespace trainwarden::hostile
