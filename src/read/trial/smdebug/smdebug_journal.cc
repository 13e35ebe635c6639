#include "read/trial/smdebug/smdebug_journal.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/foreign/smdebug_layout.h"
#include "data/foreign/tf_record.h"
#include "store/journal/segment_decoder.h"

namespace trainwarden::trial {
namespace {

using journal::Record;
using journal::RecordForm;
using ReductionPlace = WorkerContents::ReductionPlace;

Status no_such_form(std::string_view form) {
  return Status(Code::kOutOfRange, fmt::format("smdebug keeps no {}", form));
}

std::string tag_of(const ReductionPlace& place, std::string_view tensor) {
  return foreign::smdebug_reduction_tag({place.reduction, place.abs, tensor});
}

// A record of the step with its tag.
struct TaggedPlace {
  std::string tag;
  EventSpan place;
};

std::vector<TaggedPlace> places_of(const WorkerContents& contents, std::size_t step_index) {
  std::vector<TaggedPlace> places;
  for (const Record& record : contents.records(step_index)) {
    const std::string& tensor = contents.tensors()[record.tensor].name;
    if (record.form == RecordForm::kValue) places.push_back({tensor, contents.value_place(record)});
    if (record.form != RecordForm::kReductions) continue;
    for (const ReductionPlace& place : contents.reductions(record)) {
      places.push_back({tag_of(place, tensor), place.place});
    }
  }
  return places;
}

Result<std::string> read_range(const storage::ReadableFile& file, const ReadBudget& budget, const EventSpan& place) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t file_bytes, file.bytes());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t stored_bytes, file.stored_bytes());
  if (place.offset > file_bytes || place.bytes > file_bytes - place.offset) {
    return Status(Code::kDataLoss, fmt::format("its index speaks of {} bytes from {} on; the event file has {}",
                                               place.bytes, place.offset, file_bytes));
  }
  TRAINWARDEN_RETURN_IF_ERROR(budget.check_whole(place.bytes, stored_bytes, "a record"));
  std::string record(place.bytes, '\0');
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t got,
                               file.read_at(place.offset, std::as_writable_bytes(std::span(record))));
  record.resize(got);
  return record;
}

// The one value of the event, which must be of this tag: another's means that the file was written again.
Result<foreign::TfEvent> decode_tagged(std::string_view record, std::string_view tag) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload, foreign::decode_record(as_bytes(record)));
  TRAINWARDEN_ASSIGN_OR_RETURN(foreign::TfEvent event, foreign::decode_event(payload));
  const bool as_indexed = event.values.size() == 1 && event.values[0].tag == tag && event.values[0].tensor.has_value();
  if (as_indexed) return event;
  return Status(
      Code::kDataLoss,
      fmt::format("expected a record of tensor \"{}\", found {}: was the file written again? open the run anew",
                  printable(tag),
                  event.values.empty() ? "none" : fmt::format("\"{}\"", printable(event.values[0].tag))));
}

}  // namespace

Status SmdebugJournal::missing(std::size_t step_index, const Status& cause) const {
  const bool may_come = !run_ended_ && step_index + 1 == contents_.steps().size();
  return Status(may_come ? Code::kUnavailable : Code::kOutOfRange,
                fmt::format("event file missing ({}): {}", cause.message(),
                            may_come ? "its index is there, so it may still come"
                                     : "it was deleted or not copied with its index, so the values are lost"));
}

Result<std::unique_ptr<storage::ReadableFile>> SmdebugJournal::open_events(std::size_t step_index) const {
  if (contents_.event_file(step_index).empty()) {
    return Status(Code::kOutOfRange, fmt::format("the index of step {} names no event file, so the values are lost",
                                                 contents_.steps()[step_index].global_step));
  }
  auto file = storage_.open(contents_.event_file(step_index));
  if (file.ok() || file.status().code() != Code::kNotFound) return file;
  return missing(step_index, file.status());
}

Result<std::string> SmdebugJournal::read_record(std::size_t step_index, const EventSpan& place) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto file, open_events(step_index));
  auto record = read_range(*file, budget_, place);
  return record.ok() ? std::move(record) : record.status().with_context(contents_.event_file(step_index));
}

Result<TensorValue> SmdebugJournal::read_tensor(std::size_t step_index, std::string_view tag,
                                                const EventSpan& place) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string record, read_record(step_index, place));
  auto event = decode_tagged(record, tag);
  if (!event.ok()) {
    return event.status().with_context(fmt::format("{} at byte {}", contents_.event_file(step_index), place.offset));
  }
  return std::move(*event->values[0].tensor);
}

Result<TensorValue> SmdebugJournal::read_value(const Record& record) {
  return read_tensor(record.segment, contents_.tensors()[record.tensor].name, contents_.value_place(record));
}

Result<SharedTensorValue> SmdebugJournal::map_value(const Record& /*record*/) {
  return Status(Code::kUnimplemented, "smdebug does not align values; read them");
}

Result<journal::StatisticsRow> SmdebugJournal::read_statistics(const Record& record) {
  if (record.form != RecordForm::kShape) return no_such_form("statistics");
  journal::StatisticsRow row;
  row.id = record.tensor;
  row.shape = contents_.shape(record);
  row.shape_only = true;
  return row;
}

Result<double> SmdebugJournal::read_scalar(const Record& /*record*/) {
  return no_such_form("scalars apart from values");
}

Result<std::vector<SavedReduction>> SmdebugJournal::read_reductions(const Record& record) {
  const std::string& tensor = contents_.tensors()[record.tensor].name;
  std::vector<SavedReduction> reductions;
  for (const ReductionPlace& place : contents_.reductions(record)) {
    const std::string tag = tag_of(place, tensor);
    TRAINWARDEN_ASSIGN_OR_RETURN(const TensorValue value, read_tensor(record.segment, tag, place.place));
    const std::vector<double> elements = value.to_doubles();
    if (elements.size() != 1) {
      return Status(Code::kDataLoss, fmt::format("{}: a reduction is one number, found {} of shape {}", printable(tag),
                                                 name(value.dtype), value.shape.to_string()));
    }
    reductions.push_back({place.reduction, place.abs, elements[0]});
  }
  return reductions;
}

// The shapes that smdebug keeps have no dtype.
Result<std::pair<DType, Shape>> SmdebugJournal::read_shape(const Record& record) {
  if (record.form == RecordForm::kShape) return std::pair(DType::kFloat32, contents_.shape(record));
  if (record.form != RecordForm::kValue) return no_such_form("shape with reductions");
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string bytes, read_record(record.segment, contents_.value_place(record)));
  auto type_and_shape = [&]() -> Result<std::pair<DType, Shape>> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload, foreign::decode_record(as_bytes(bytes)));
    return foreign::decode_event_shape(payload);
  }();
  if (type_and_shape.ok()) return type_and_shape;
  return type_and_shape.status().with_context(contents_.event_file(record.segment));
}

std::int64_t SmdebugJournal::unix_ns(std::size_t step_index) {
  const std::vector<TaggedPlace> places = places_of(contents_, step_index);
  const auto smallest = std::min_element(places.begin(), places.end(), [](const TaggedPlace& a, const TaggedPlace& b) {
    return a.place.bytes < b.place.bytes;
  });
  if (smallest == places.end()) return 0;
  const auto record = read_record(step_index, smallest->place);
  if (!record.ok()) return 0;
  const auto event = decode_tagged(*record, smallest->tag);
  return event.ok() && std::abs(event->wall_time_s) < 9e9 ? static_cast<std::int64_t>(event->wall_time_s * 1e9) : 0;
}

Status SmdebugJournal::verify_all() {
  for (std::size_t i = 0; i < contents_.steps().size(); ++i) verify_step(i);
  return {};
}

void SmdebugJournal::verify_step(std::size_t step_index) {
  const std::vector<TaggedPlace> places = places_of(contents_, step_index);
  if (places.empty()) return;
  const std::string path = contents_.event_file(step_index);
  const auto file = open_events(step_index);
  if (!file.ok()) {
    const std::string where =
        path.empty() ? fmt::format("index of step {}", contents_.steps()[step_index].global_step) : path;
    if (file.status().code() != Code::kUnavailable) losses_.add_damage(where, 0, "event file missing", 1, 0);
    return;
  }
  for (const TaggedPlace& place : places) {
    const Status scanned = budget_.scan(place.place.bytes, path);
    if (!scanned.ok()) return losses_.add_damage(path, place.place.offset, journal::kOverBudget, 1, place.place.bytes);
    const auto record = read_range(**file, budget_, place.place);
    const Status status = record.ok() ? decode_tagged(*record, place.tag).status() : record.status();
    if (status.ok() || status.code() == Code::kUnimplemented) continue;  // a type that we cannot read is no damage
    losses_.add_damage(path, place.place.offset, "damaged record", 1, place.place.bytes);
  }
}

}  // namespace trainwarden::trial
