#include "read/upkeep/segment_copy.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "data/format/compression.h"
#include "store/journal/journal_segment.h"
#include "store/journal/segment_intake.h"

namespace trainwarden::upkeep {

using format::FrameHeader;
using format::FrameKind;
using format::RecordForm;
using journal::AppendDraft;
using journal::FrameDraft;

namespace {

constexpr std::string_view kStepWithoutEnd = "data of a step without its end";

FrameDraft draft_of(const FrameHeader& header, std::string payload) {
  FrameDraft frame;
  frame.kind = header.kind;
  frame.flags = format::flags_of_content(header);
  frame.step = header.step;
  frame.head = std::move(payload);
  return frame;
}

}  // namespace

std::string describe_frame(const FrameHeader& header) {
  std::string text(format::name(header.kind));
  if (header.step >= 0) text += fmt::format(" of step {}", header.step);
  return text;
}

std::string encode_samples_of(const format::SampleTableReader& table, std::span<const std::size_t> series) {
  constexpr std::int64_t kLastTime = std::numeric_limits<std::int64_t>::max();
  std::vector<std::vector<Sample>> samples(series.size());
  format::SampleTable kept;
  for (std::size_t i = 0; i < series.size(); ++i) {
    table.read(series[i], std::numeric_limits<std::int64_t>::min(), kLastTime, samples[i]);
    for (const Sample& sample : samples[i]) kept.ticks.push_back(sample.unix_ns);
  }
  std::sort(kept.ticks.begin(), kept.ticks.end());
  kept.ticks.erase(std::unique(kept.ticks.begin(), kept.ticks.end()), kept.ticks.end());
  for (std::size_t i = 0; i < series.size(); ++i) {
    format::SampleSeries& row = kept.series.emplace_back();
    row.metric = table.metric(series[i]);
    if (samples[i].size() < kept.ticks.size()) row.present.resize(kept.ticks.size(), false);
    for (const Sample& sample : samples[i]) {
      row.values.push_back(sample.value);
      if (row.present.empty()) continue;
      const auto tick = std::lower_bound(kept.ticks.begin(), kept.ticks.end(), sample.unix_ns);
      row.present[static_cast<std::size_t>(tick - kept.ticks.begin())] = true;
    }
  }
  return format::encode_samples(kept);
}

SegmentCopy::SegmentCopy(JournalCopy& journal, SegmentScan& source, const FrameFilter& wanted)
    : journal_(journal), source_(source), wanted_(wanted) {
  for (const auto& [id, entry] : source.names()) {
    const auto known = id_by_name_.find(entry.name);
    if (known == id_by_name_.end() || id < known->second) id_by_name_[entry.name] = id;
    next_id_ = std::max(next_id_, id == 0xffffffff ? id : id + 1);
  }
}

Status SegmentCopy::run() {
  note_damage();
  if (source_.is_another()) return {};
  for (const auto& [offset, place] : places()) {
    TRAINWARDEN_RETURN_IF_ERROR(place.frame != nullptr ? take(*place.frame) : take_step_of_index(*place.step));
  }
  drop_open_step(std::nullopt);
  // One that holds nothing but its start still says which collections there were.
  if (segment_ == nullptr && source_.start() && !source_.frames().empty()) {
    TRAINWARDEN_RETURN_IF_ERROR(ensure_started(source_.frames().front().unix_ns));
  }
  return segment_ == nullptr ? Status() : journal_.seal(*segment_);
}

std::map<std::uint64_t, SegmentCopy::Place> SegmentCopy::places() const {
  std::map<std::uint64_t, Place> places;
  for (const FrameHeader& header : source_.frames()) places[header.file_offset].frame = &header;
  if (!source_.index()) return places;
  for (const format::StepIndexRow& row : source_.index()->steps) {
    Place& place = places[source_.index()->frames[row.frame].offset];
    if (place.frame == nullptr) place.step = &row;
  }
  return places;
}

Status SegmentCopy::take(const FrameHeader& header) {
  switch (header.kind) {
    case FrameKind::kSegmentStart:
    case FrameKind::kIndex:
    case FrameKind::kTrailer:
    case FrameKind::kPad: return {};  // each segment has its own
    case FrameKind::kNames: return take_names(header);
    default: break;
  }
  if (wanted_ && !wanted_(header)) {
    ++journal_.tally_.left_out;
    return {};
  }
  if (journal::is_data(header.kind)) {
    open_step_.push_back(header);
    return {};
  }
  if (header.kind == FrameKind::kStepEnd) return take_step_end(header);
  if (header.kind == FrameKind::kSamples) return take_samples(header);
  TRAINWARDEN_ASSIGN_OR_RETURN(std::optional<std::string> payload, payload_of(header));
  if (!payload) return {};
  AppendDraft draft;
  draft.frames.push_back(draft_of(header, *std::move(payload)));
  return write(std::move(draft), header.unix_ns);
}

// The payload, or nothing when it is lost, which is noted then.
Result<std::optional<std::string>> SegmentCopy::payload_of(const FrameHeader& header) {
  const Result<ByteSpan> payload = source_.payload(header);
  if (payload.ok()) return std::optional(std::string(as_text(*payload)));
  if (!journal::is_damage(payload.status())) return payload.status();
  note_lost(header.file_offset, journal::cause_of(payload.status()), describe_frame(header), 1, header.frame_bytes());
  return std::optional<std::string>();
}

Status SegmentCopy::take_names(const FrameHeader& header) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::optional<std::string> payload, payload_of(header));
  const Result<format::Names> names =
      payload ? format::decode_names(*payload) : Result<format::Names>(Status(Code::kDataLoss, "lost"));
  if (!names.ok()) return {};  // noted when it was found
  AppendDraft draft;
  for (const format::NameEntry& entry : names->tensors) draft.named_ids.push_back(entry.id);
  for (const format::MetricEntry& entry : names->metrics) draft.named_metrics.push_back(entry.id);
  draft.frames.push_back(draft_of(header, *std::move(payload)));
  return write(std::move(draft), header.unix_ns);
}

// By the segment's own words: a number that is given here to a bundle's tensor says nothing about rows that have it.
bool SegmentCopy::is_named(std::uint32_t id) const {
  return source_.names().contains(id);
}

void SegmentCopy::note_nameless(const FrameHeader& header, std::uint64_t rows, std::string_view cause) {
  note_lost(header.file_offset, cause, describe_frame(header), rows, 0);
}

// A bundle says its names itself: one that was lost with its frame of names gets a number of its own.
std::uint32_t SegmentCopy::id_of(const std::string& name) {
  const auto [found, is_new] = id_by_name_.try_emplace(name, next_id_);
  if (is_new) own_names_[next_id_] = {next_id_, name, {}}, ++next_id_;
  return found->second;
}

Status SegmentCopy::load(StepPart& part) {
  switch (part.header.kind) {
    case FrameKind::kBundle: return load_bundle(part);
    case FrameKind::kStatistics: return load_statistics(part);
    case FrameKind::kScalars: return load_scalars(part);
    default: return load_reductions(part);
  }
}

Status SegmentCopy::load_bundle(StepPart& part) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto entries, format::decode_bundle(as_bytes(part.payload), part.payload.size()));
  for (std::uint32_t row = 0; row < entries.size(); ++row) {
    part.records.push_back({id_of(entries[row].name), RecordForm::kValue, 0, row});
  }
  return {};
}

Status SegmentCopy::load_statistics(StepPart& part) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto table, format::StatisticsTable::open(as_bytes(part.payload)));
  std::vector<format::StatisticsRow> kept;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < table.row_count(); ++row) {
    if (is_named(table.keys()[row].tensor)) rows.push_back(row);
  }
  const bool has_all = rows.size() == table.row_count();
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    const format::StatisticsKey& key = table.keys()[rows[i]];
    part.records.push_back({key.tensor, key.shape_only ? RecordForm::kShape : RecordForm::kStatistics, 0, i});
    if (!has_all) kept.push_back(table.row(rows[i]));
  }
  if (has_all) return {};
  note_nameless(part.header, table.row_count() - rows.size(), journal::kNamelessRecords);
  part.payload = kept.empty() ? "" : format::encode_statistics(kept);
  return {};
}

Status SegmentCopy::load_scalars(StepPart& part) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<format::ScalarRow> rows, format::decode_scalars(as_bytes(part.payload)));
  const std::size_t lost = std::erase_if(rows, [&](const format::ScalarRow& row) { return !is_named(row.id); });
  for (std::uint32_t i = 0; i < rows.size(); ++i) part.records.push_back({rows[i].id, RecordForm::kScalar, 0, i});
  if (lost == 0) return {};
  note_nameless(part.header, lost, journal::kNamelessRecords);
  part.payload = rows.empty() ? "" : format::encode_scalars(rows);
  return {};
}

Status SegmentCopy::load_reductions(StepPart& part) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<format::ReductionRow> rows,
                               format::decode_reductions(as_bytes(part.payload)));
  const std::size_t lost = std::erase_if(rows, [&](const format::ReductionRow& row) { return !is_named(row.id); });
  for (const std::size_t row : format::first_rows(rows)) {
    part.records.push_back({rows[row].id, RecordForm::kReductions, 0, static_cast<std::uint32_t>(row)});
  }
  if (lost == 0) return {};
  note_nameless(part.header, lost, journal::kNamelessRecords);
  part.payload = rows.empty() ? "" : format::encode_reductions(rows);
  return {};
}

Status SegmentCopy::take_step_end(const FrameHeader& header) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::optional<std::string> payload, payload_of(header));
  if (!payload) return {};
  const Result<format::StepEndRecord> record = format::decode_step_end(*payload);
  if (!record.ok()) {
    note_lost(header.file_offset, journal::kUndecodable, describe_frame(header), 1, header.frame_bytes());
    return {};
  }
  format::StepIndexRow row;
  row.global_step = header.step;
  row.mode = record->mode;
  row.mode_step = record->mode_step;
  row.loss_count = static_cast<std::uint32_t>(record->losses.size());
  return end_step(row, header, *std::move(payload));
}

// What the step's end said of things that were not kept is gone; that the step ended, and in which mode, is not.
Status SegmentCopy::take_step_of_index(const format::StepIndexRow& known) {
  FrameHeader header;
  header.kind = FrameKind::kStepEnd;
  header.flags = static_cast<std::uint16_t>(known.mode);
  header.step = known.global_step;
  header.file_offset = source_.index()->frames[known.frame].offset;
  header.unix_ns = known.unix_ns;
  if (wanted_ && !wanted_(header)) {
    ++journal_.tally_.left_out;
    return {};
  }
  if (known.loss_count > 0) {
    note_lost(header.file_offset, journal::kDamagedPayload,
              fmt::format("what was not kept in step {}", known.global_step), known.loss_count, 0);
  }
  format::StepIndexRow row;
  row.global_step = known.global_step;
  row.mode = known.mode;
  row.mode_step = known.mode_step;
  return end_step(row, header, format::encode_step_end({known.mode, known.mode_step, {}}));
}

// All frames of the step with one write, its end the last.
Status SegmentCopy::end_step(format::StepIndexRow row, const FrameHeader& end, std::string end_payload) {
  drop_open_step(end.step);
  AppendDraft draft;
  std::vector<StepPart> parts;
  std::vector<std::uint32_t> ids;
  for (const FrameHeader& header : std::exchange(open_step_, {})) {
    TRAINWARDEN_ASSIGN_OR_RETURN(std::optional<std::string> payload, payload_of(header));
    if (!payload) continue;
    StepPart part{header, *std::move(payload), {}};
    const Status loaded = load(part);
    if (!loaded.ok()) {
      note_lost(header.file_offset, journal::cause_of(loaded, journal::kUndecodable), describe_frame(header), 1,
                header.frame_bytes());
      continue;
    }
    if (part.records.empty() && part.payload.empty()) continue;  // no row has a name any more
    for (const format::RecordIndexRow& record : part.records) ids.push_back(record.tensor);
    parts.push_back(std::move(part));
  }
  TRAINWARDEN_RETURN_IF_ERROR(ensure_started(end.unix_ns));
  add_missing_names(ids, draft);
  for (StepPart& part : parts) {
    for (format::RecordIndexRow record : part.records) {
      record.frame = static_cast<std::uint32_t>(draft.frames.size());
      draft.records.push_back(record);
    }
    draft.frames.push_back(draft_of(part.header, std::move(part.payload)));
  }
  row.frame = static_cast<std::uint32_t>(draft.frames.size());
  row.record_count = static_cast<std::uint32_t>(draft.records.size());
  draft.step = row;
  draft.frames.push_back(draft_of(end, std::move(end_payload)));
  journal_.tally_.steps += 1;
  journal_.tally_.records += draft.records.size();
  return write(std::move(draft), end.unix_ns);
}

// Names that are told later in the segment, or by bundles alone.
void SegmentCopy::add_missing_names(const std::vector<std::uint32_t>& ids, AppendDraft& draft) const {
  std::vector<format::NameEntry> entries;
  for (const std::uint32_t id : ids) {
    if (segment_->named_ids().contains(id)) continue;
    if (std::find(draft.named_ids.begin(), draft.named_ids.end(), id) != draft.named_ids.end()) continue;
    const auto known = source_.names().find(id);
    entries.push_back(known != source_.names().end() ? known->second : own_names_.at(id));
    draft.named_ids.push_back(id);
  }
  if (entries.empty()) return;
  FrameDraft frame;
  frame.kind = FrameKind::kNames;
  frame.head = format::encode_names(entries);
  draft.frames.push_back(std::move(frame));
}

Status SegmentCopy::take_samples(const FrameHeader& header) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::optional<std::string> payload, payload_of(header));
  if (!payload) return {};
  auto table = format::SampleTableReader::open(as_bytes(*payload));
  if (!table.ok()) {
    note_lost(header.file_offset, journal::kUndecodable, describe_frame(header), 1, header.frame_bytes());
    return {};
  }
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < table->series_count(); ++i) {
    if (source_.metrics().contains(table->metric(i))) kept.push_back(i);
  }
  if (kept.size() < table->series_count()) {
    note_nameless(header, table->series_count() - kept.size(), journal::kNamelessSamples);
    if (kept.empty()) return {};
    *payload = encode_samples_of(*table, kept);
    table = format::SampleTableReader::open(as_bytes(*payload));
    if (!table.ok()) return table.status();
  }
  AppendDraft draft;
  format::SampleIndexRow row{0, table->first_unix_ns(), table->last_unix_ns(), table->metric(0), table->metric(0)};
  std::vector<format::MetricEntry> unnamed;
  TRAINWARDEN_RETURN_IF_ERROR(ensure_started(header.unix_ns));
  for (std::size_t i = 0; i < table->series_count(); ++i) {
    const std::uint32_t metric = table->metric(i);
    row.lowest_metric = std::min(row.lowest_metric, metric);
    row.highest_metric = std::max(row.highest_metric, metric);
    if (!segment_->named_metrics().contains(metric)) unnamed.push_back({metric, source_.metrics().at(metric)});
  }
  if (!unnamed.empty()) {
    FrameDraft frame;
    frame.kind = FrameKind::kNames;
    frame.head = format::encode_names({}, unnamed);
    draft.frames.push_back(std::move(frame));
    for (const format::MetricEntry& entry : unnamed) draft.named_metrics.push_back(entry.id);
  }
  row.frame = static_cast<std::uint32_t>(draft.frames.size());
  draft.samples.push_back(row);
  draft.frames.push_back(draft_of(header, *std::move(payload)));
  return write(std::move(draft), header.unix_ns);
}

// Data frames of other steps than this have lost their end.
void SegmentCopy::drop_open_step(std::optional<std::int64_t> but_step) {
  std::vector<FrameHeader> kept;
  for (const FrameHeader& header : open_step_) {
    if (header.step == but_step) {
      kept.push_back(header);
    } else {
      note_lost(header.file_offset, kStepWithoutEnd, describe_frame(header), 1, header.frame_bytes());
    }
  }
  open_step_ = std::move(kept);
}

Status SegmentCopy::ensure_started(std::int64_t unix_ns) {
  if (segment_ != nullptr) return {};
  format::SegmentStart start = source_.start().value_or(format::SegmentStart{});
  const std::int64_t started = source_.frames().empty() ? unix_ns : source_.frames().front().unix_ns;
  const std::uint32_t writer_id = source_.frames().empty() ? 0 : source_.frames().front().writer_id;
  TRAINWARDEN_ASSIGN_OR_RETURN(segment_, journal_.start_segment(start, writer_id, started));
  return {};
}

Status SegmentCopy::write(AppendDraft draft, std::int64_t unix_ns) {
  TRAINWARDEN_RETURN_IF_ERROR(ensure_started(unix_ns));
  journal_.clock_.set(unix_ns);
  journal_.tally_.frames += draft.frames.size();
  return segment_->append(draft);
}

void SegmentCopy::note_lost(std::uint64_t offset, std::string_view cause, std::string what, std::uint64_t count,
                            std::uint64_t bytes) {
  journal_.tally_.lost.push_back({source_.place().path(), offset, std::string(cause), std::move(what), count, bytes});
}

// What is damaged there is only what this segment gets anew: its index, its trailer, or ends of steps of which the
// index says all. What lies behind the trailer was never part of it.
bool SegmentCopy::says_nothing(const journal::Damage& damage) {
  if (damage.cause == "bytes after the trailer") return true;
  const std::uint64_t end = damage.offset + damage.bytes;
  if (source_.index()) {
    bool has_row = false;
    for (const format::StepIndexRow& row : source_.index()->steps) {
      if (row.loss_count > 0 && source_.index()->frames[row.frame].offset == damage.offset) return false;
    }
    for (const format::FrameIndexRow& row : source_.index()->frames) {
      if (row.offset < damage.offset || row.offset >= end) continue;
      if (row.kind != FrameKind::kStepEnd) return false;
      has_row = true;
    }
    if (has_row) return true;
  }
  if (source_.index_offset() && damage.offset >= *source_.index_offset()) return true;
  const std::optional<FrameHeader> there = source_.header_at(damage.offset);
  if (there) return there->kind == FrameKind::kIndex || there->kind == FrameKind::kTrailer;
  const auto& frames = source_.frames();
  const auto behind = std::find_if(frames.begin(), frames.end(), [&](const FrameHeader& header) {
    return header.file_offset + header.frame_bytes() == damage.offset;
  });
  return behind != frames.end() && behind->kind == FrameKind::kIndex && damage.bytes <= format::kTrailerFrameBytes;
}

// Index and trailer are made anew, so that nobody would notice.
void SegmentCopy::note_damaged_seal() {
  bool is_noted = false;
  for (const FrameHeader& header : source_.frames()) {
    if (header.kind != FrameKind::kIndex && header.kind != FrameKind::kTrailer) continue;
    const Status status = source_.verify(header);
    if (status.ok()) continue;
    is_noted = true;
    journal_.tally_.mended.push_back({source_.place().path(), header.file_offset,
                                      std::string(journal::cause_of(status)), describe_frame(header), 1,
                                      header.frame_bytes()});
  }
  const bool lacks_index = source_.sealed() && !source_.index() && !source_.is_another() && source_.damage().empty();
  if (!lacks_index || is_noted) return;
  journal_.tally_.mended.push_back(
      {source_.place().path(), source_.index_offset().value_or(0), "damaged index", "index", 1, 0});
}

void SegmentCopy::note_damage() {
  for (const journal::Damage& damage : source_.damage()) {
    std::string what;
    if (const auto there = source_.header_at(damage.offset)) what = describe_frame(*there);
    if (source_.index() && what.empty()) {
      for (const format::FrameIndexRow& row : source_.index()->frames) {
        if (row.offset < damage.offset || row.offset >= damage.offset + damage.bytes) continue;
        FrameHeader header;
        header.kind = row.kind;
        header.step = row.step;
        what += (what.empty() ? "" : ", ") + describe_frame(header);
        if (what.size() > 200) break;
      }
    }
    CopyNote note{source_.place().path(), damage.offset, std::string(damage.cause),
                  std::move(what),        damage.frames, damage.bytes};
    CopyTally& tally = journal_.tally_;
    (!source_.is_another() && says_nothing(damage) ? tally.mended : tally.lost).push_back(std::move(note));
  }
  note_damaged_seal();
}

}  // namespace trainwarden::upkeep
