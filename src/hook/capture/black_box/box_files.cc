#include "hook/capture/black_box/box_files.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "core/base/crc32c.h"
#include "data/format/bundle.h"
#include "data/format/frame.h"
#include "data/format/json.h"
#include "data/format/run_event.h"
#include "data/format/safetensors.h"
#include "data/format/segment_start.h"

namespace trainwarden::capture {
namespace {

using format::FrameKind;

constexpr std::string_view kEpoch = "trainwarden/batch/epoch";
constexpr std::string_view kBatchNumber = "trainwarden/batch/number";
constexpr std::string_view kBatchIndices = "trainwarden/batch/indices";
constexpr std::string_view kGenerators = "trainwarden/rng/";
constexpr std::size_t kMaxIndices = 1 << 20;  // of one step, in replay.json; all are in the journal

constexpr std::array<std::byte, format::kFrameAlignment> kZeros{};
constexpr std::string_view kBlanks = "                                                                ";

// Calls `visit` with each item of a step in the order of their bytes: those without bytes, then the widest elements
// first, so that each tensor is aligned to them.
template <class Visit>
void visit_in_order(const BoxStep& step, Visit visit) {
  for (const std::size_t width : {std::size_t{0}, std::size_t{8}, std::size_t{4}, std::size_t{2}, std::size_t{1}}) {
    for (std::uint32_t i = 0; i < step.item_count; ++i) {
      const BoxItem& item = *step.slot->item(i);
      const std::size_t own = item.data.empty() ? 0 : item_bytes(format::stored_dtype(item.dtype));
      if (own == width) visit(item);
    }
  }
}

// A comma before each but the first.
class Commas {
 public:
  explicit Commas(ByteSink& out) : out_(out) {}
  void next() {
    if (!first_) out_.text(",");
    first_ = false;
  }

 private:
  ByteSink& out_;
  bool first_ = true;
};

void put_names(const BoxStep& step, ByteSink& out) {
  out.text(R"({"tensors":[)");
  Commas commas(out);
  for (std::uint32_t i = 0; i < step.item_count; ++i) {
    commas.next();
    out.text(step.slot->item(i)->label->names_row);
  }
  out.text("]}");
}

// What safetensors has no dtype for is written into the metadata.
void put_bundle_metadata(const BoxStep& step, ByteSink& out) {
  bool any = false;
  for (std::uint32_t i = 0; i < step.item_count; ++i) {
    const BoxItem& item = *step.slot->item(i);
    if (!is_complex(item.dtype)) continue;
    out.text(any ? R"(,"dtype:)" : R"("__metadata__":{"dtype:)");
    out.text(std::string_view(item.label->key).substr(1));
    out.text(":\"");
    out.text(name(item.dtype));
    out.text("\"");
    any = true;
  }
  if (any) out.text("},");
}

void put_bundle_entry(const BoxItem& item, std::uint64_t begin, ByteSink& out) {
  out.text(item.label->key);
  out.text(R"(:{"dtype":")");
  out.text(format::safetensors_name(format::stored_dtype(item.dtype)));
  out.text(R"(","shape":[)");
  Commas commas(out);
  for (const std::int64_t size : item.shape.sizes()) {
    commas.next();
    out.number(size);
  }
  if (is_complex(item.dtype)) {
    commas.next();
    out.text("2");
  }
  out.text(R"(],"data_offsets":[)");
  out.number(begin);
  out.text(",");
  out.number(begin + item.data.size());
  out.text("]}");
}

void put_bundle_json(const BoxStep& step, ByteSink& out) {
  out.text("{");
  put_bundle_metadata(step, out);
  std::uint64_t at = 0;
  Commas commas(out);
  visit_in_order(step, [&](const BoxItem& item) {
    commas.next();
    put_bundle_entry(item, at, out);
    at += item.data.size();
  });
  out.text("}");
}

// A safetensors document: the header's length, the header with blanks up to a multiple of 64, the elements.
void put_bundle(const BoxStep& step, ByteSink& out) {
  MeasuringSink json;
  put_bundle_json(step, json);
  constexpr std::uint64_t kLengthBytes = 8;
  const std::uint64_t header_bytes = align_up(kLengthBytes + json.bytes(), format::kFrameAlignment) - kLengthBytes;
  std::array<std::byte, kLengthBytes> length;
  store_le(length, 0, header_bytes);
  out.put(length);
  put_bundle_json(step, out);
  out.text(kBlanks.substr(0, header_bytes - json.bytes()));
  visit_in_order(step, [&](const BoxItem& item) { out.put(item.data); });
}

void put_step_end(const BoxStep& step, ByteSink& out) {
  out.text(R"({"mode":")");
  out.text(name(step.id.mode));
  out.text(R"(","mode_step":)");
  out.number(step.id.mode_step);
  out.text(R"(,"losses":[)");
  if (step.missing_count > 0) {
    out.text(R"({"cause":"staging_full","count":)");
    out.number(step.missing_count);
    out.text(R"(,"bytes":)");
    out.number(step.missing_bytes);
    out.text(R"(,"message":"the black box had no room, or could not read them; give it more bytes or fewer steps"})");
  }
  out.text("]}");
}

// Frames one after the other.
class FrameWriter {
 public:
  FrameWriter(const BoxHead& head, ByteSink& out) : head_(head), out_(out) {}

  // `put` writes the payload to any sink; the same bytes each time.
  template <class Put>
  void write(FrameKind kind, std::int64_t step, Mode mode, std::int64_t unix_ns, Put put) {
    MeasuringSink payload;
    put(payload);
    format::FrameHeader header;
    header.kind = kind;
    header.flags = static_cast<std::uint16_t>(mode);
    header.payload_crc = payload.crc();
    header.payload_bytes = payload.bytes();
    header.file_offset = offset_;
    header.sequence = sequence_++;
    header.step = step;
    header.run_salt = head_.run_salt;
    header.unix_ns = unix_ns;
    out_.put(format::encode_frame_header(header));
    put(out_);
    out_.put(ByteSpan(kZeros).first(header.frame_bytes() - format::kFrameHeaderBytes - header.payload_bytes));
    offset_ += header.frame_bytes();
  }

 private:
  const BoxHead& head_;
  ByteSink& out_;
  std::uint64_t offset_ = 0;
  std::uint64_t sequence_ = 0;
};

bool is_saved_as(const BoxItem& item, std::string_view wanted) {
  const std::string_view found = item.label->name;
  return found.starts_with(wanted) && (found.size() == wanted.size() || found[wanted.size()] == '#');
}

// A whole number that was kept as a scalar; nothing when it is not there.
void put_scalar(const BoxStep& step, std::string_view wanted, std::string_view field, ByteSink& out) {
  for (std::uint32_t i = 0; i < step.item_count; ++i) {
    const BoxItem& item = *step.slot->item(i);
    if (item.label->name != wanted || item.dtype != DType::kFloat64 || item.data.size() != sizeof(double)) continue;
    const auto value = load_le<double>(item.data, 0);
    if (!(value >= 0 && value < 9e15)) return;
    out.text(field);
    out.number(static_cast<std::int64_t>(value));
  }
}

// Those of the step so far may be given with each of its batches: the longest has them all.
void put_indices(const BoxStep& step, ByteSink& out) {
  const BoxItem* longest = nullptr;
  for (std::uint32_t i = 0; i < step.item_count; ++i) {
    const BoxItem& item = *step.slot->item(i);
    if (item.dtype != DType::kInt64 || !is_saved_as(item, kBatchIndices)) continue;
    if (longest == nullptr || item.data.size() > longest->data.size()) longest = &item;
  }
  out.text(R"(,"indices":[)");
  Commas commas(out);
  const std::size_t bytes = longest == nullptr ? 0 : std::min(longest->data.size(), kMaxIndices * sizeof(std::int64_t));
  for (std::size_t at = 0; at < bytes; at += sizeof(std::int64_t)) {
    commas.next();
    out.number(load_le<std::int64_t>(longest->data, at));
  }
  out.text("]");
}

// {"global_step": ..., "epoch": ..., "number": ..., "indices": [...]}
void put_batch(const BoxStep& step, ByteSink& out) {
  out.text(R"({"global_step":)");
  out.number(step.id.global_step);
  put_scalar(step, kEpoch, R"(,"epoch":)", out);
  put_scalar(step, kBatchNumber, R"(,"number":)", out);
  put_indices(step, out);
  out.text("}");
}

void put_step(const BoxStep& step, ByteSink& out) {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < step.item_count; ++i) bytes += step.slot->item(i)->data.size();
  out.text(R"({"global_step":)");
  out.number(step.id.global_step);
  out.text(R"(,"mode":")");
  out.text(name(step.id.mode));
  out.text(R"(","mode_step":)");
  out.number(step.id.mode_step);
  out.text(step.open ? R"(,"open":true,"tensors":)" : R"(,"open":false,"tensors":)");
  out.number(std::uint64_t{step.item_count});
  out.text(R"(,"bytes":)");
  out.number(bytes);
  out.text(R"(,"missing_tensors":)");
  out.number(step.missing_count);
  out.text(R"(,"missing_bytes":)");
  out.number(step.missing_bytes);
  out.text(R"(,"batch":)");
  put_batch(step, out);
  out.text("}");
}

// The names of what the failing step holds of random generators.
void put_generators(const BoxStep& step, ByteSink& out) {
  Commas commas(out);
  for (std::uint32_t i = 0; i < step.item_count; ++i) {
    const BoxLabel& label = *step.slot->item(i)->label;
    if (!std::string_view(label.name).starts_with(kGenerators)) continue;
    commas.next();
    out.text(label.key);
  }
}

}  // namespace

BoxHead make_box_head(const journal::RunInfo& run, int rank, std::int64_t pid,
                      const std::vector<Collection>& collections) {
  constexpr int kOwnRank = 0;  // the dump's only worker
  journal::RunInfo own = run;
  own.world_size = 1;
  own.labels["black_box.run"] = run.id;
  own.labels["black_box.rank"] = std::to_string(rank);
  // Another run than the one it was taken from, so that neither's frames pass for the other's.
  own.id = fmt::format("{}{:08x}", run.id.substr(0, 24), crc32c(as_bytes(fmt::format("{}/{}", run.id, rank))));
  BoxHead head;
  head.run_id = journal::run_identity(run);
  head.run_json = journal::encode_run_info(own);
  head.run_salt = journal::run_salt(own);
  head.rank = rank;
  format::SegmentStart start;
  start.run = own.id;
  start.writer = journal::worker_name(kOwnRank);
  start.writer_id = kOwnRank;
  start.format_version = own.format_version;
  start.host = own.host;
  start.pid = pid;
  start.collections = collections;
  head.segment_start = format::encode_segment_start(start);
  head.run_end = format::encode_run_end({});
  const std::string object =
      format::dump_json({{"run_id", run.id}, {"rank", rank}, {"world_size", run.world_size}, {"pid", pid}});
  head.run_text = object.substr(1, object.size() - 2);
  return head;
}

const BoxStep* failing_step_of(const BoxSnapshot& snapshot, const BoxCause& cause) noexcept {
  if (cause.failing_step < 0) return snapshot.count > 0 ? snapshot.end() - 1 : nullptr;
  for (const BoxStep& step : snapshot) {
    if (step.id.global_step == cause.failing_step) return &step;
  }
  return nullptr;
}

void write_journal(const BoxHead& head, const BoxSnapshot& snapshot, std::int64_t unix_ns, ByteSink& out) noexcept {
  FrameWriter frames(head, out);
  const auto put_text = [](const std::string& text) { return [&text](ByteSink& sink) { sink.text(text); }; };
  frames.write(FrameKind::kSegmentStart, -1, Mode::kTrain, unix_ns, put_text(head.segment_start));
  for (const BoxStep& step : snapshot) {
    const auto write = [&](FrameKind kind, void (*put)(const BoxStep&, ByteSink&)) {
      frames.write(kind, step.id.global_step, step.id.mode, step.unix_ns, [&](ByteSink& sink) { put(step, sink); });
    };
    if (step.item_count > 0) {
      write(FrameKind::kNames, put_names);
      write(FrameKind::kBundle, put_bundle);
    }
    write(FrameKind::kStepEnd, put_step_end);
  }
  frames.write(FrameKind::kEvent, -1, Mode::kTrain, unix_ns, put_text(head.run_end));
}

void write_replay(const BoxHead& head, const BoxSnapshot& snapshot, const BoxCause& cause, ByteSink& out) noexcept {
  const BoxStep* const failing = failing_step_of(snapshot, cause);
  out.text(R"({"format_version":1,"why":)");
  out.text(cause.why);
  out.text(",");
  out.text(head.run_text);
  out.text(R"(,"unix_ns":)");
  out.number(cause.unix_ns);
  out.text(R"(,"failing_step":)");
  out.number(failing != nullptr ? failing->id.global_step : cause.failing_step);
  out.text(failing != nullptr ? R"(,"failing_step_held":true,"steps":[)" : R"(,"failing_step_held":false,"steps":[)");
  Commas steps(out);
  for (const BoxStep& step : snapshot) {
    steps.next();
    put_step(step, out);
  }
  out.text(R"(],"skip":[)");
  if (failing != nullptr) put_batch(*failing, out);
  out.text(R"(],"generator_states":[)");
  if (failing != nullptr) put_generators(*failing, out);
  out.text(R"(],"given_up":[)");
  Commas given_up(out);
  for (std::size_t rank = 0; rank < cause.ranks->size(); ++rank) {
    if ((cause.given_up >> rank & 1) == 0) continue;
    given_up.next();
    out.text("\"");
    out.text((*cause.ranks)[rank]);  // a collection's name: the plan knows it
    out.text("\"");
  }
  out.text(R"(],"steps_without_room":)");
  out.number(cause.steps_without_room);
  out.text("}\n");
}

std::string dump_name(std::int64_t step, int rank, int attempt) {
  return fmt::format("step-{:06}-rank-{:05}{}", step, rank, attempt == 0 ? "" : fmt::format("-{}", attempt));
}

}  // namespace trainwarden::capture
