// SegmentIntake: takes what is in one segment into the contents of its journal.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/bytes.h"
#include "data/format/frame.h"
#include "data/format/segment_index_view.h"
#include "store/journal/journal_contents.h"
#include "store/journal/segment_decoder.h"

namespace trainwarden::journal {

inline constexpr std::string_view kUndecodable = "undecodable record";
inline constexpr std::string_view kNamelessRecords = "records whose names are lost";
inline constexpr std::string_view kNamelessSamples = "samples whose names are lost";

// Whose segment it must be.
struct SegmentIdentity {
  std::string run;     // the run's id
  std::string writer;  // "rank-00000"
  std::uint64_t number = 0;
  std::uint32_t index = 0;  // among the segments of the journal, for Record::segment
  std::string path;         // for losses
};

class SegmentIntake final : public FrameSink {
 public:
  // `contents` must outlive it.
  SegmentIntake(JournalContents& contents, SegmentIdentity identity)
      : contents_(contents), identity_(std::move(identity)) {}

  // The header walk: frames one after the other. A step comes into the contents with its step_end.
  void on_frame(const format::FrameHeader& header, ByteSpan payload) override;
  void on_damage(const Damage& damage) override;
  // No more frames will come: data frames without a step_end belong to a step that was never acknowledged.
  void finish();

  // Tells of what finish() would drop, and keeps it.
  void report_pending();

  // The other way: frames of words out of the order of the walk, and then the index with steps and records.
  void take_words(const format::FrameHeader& header, ByteSpan payload);
  // An event that was found whole; its text where it is in memory.
  void take_event(const format::FrameHeader& header, std::optional<ByteSpan> payload);
  void take_index(const format::SegmentIndexView& index);
  // What was not kept, of a step that the index has.
  void take_step_losses(const format::FrameHeader& header, ByteSpan payload);

  // Data frames of a step whose step_end has not come (yet).
  bool in_step() const { return !pending_.empty(); }

  // The segment says that it is another one and nothing in it can be believed, or there is no memory left for it.
  bool refused() const { return refused_; }
  const SegmentIdentity& identity() const { return identity_; }
  // The index in contents of the tensor that the segment calls `id`; none when its name was lost.
  std::optional<std::uint32_t> tensor_of(std::uint32_t id) const;
  // The same of a metric.
  std::optional<std::uint32_t> metric_of(std::uint32_t id) const;
  const std::unordered_map<std::uint32_t, std::uint32_t>& metrics_by_id() const { return metric_by_id_; }
  void add_damage(std::uint64_t offset, std::string_view cause, std::uint64_t count, std::uint64_t bytes);
  // Spends of the run's memory on what lies at `offset`. When there is not enough left it is counted as a loss.
  bool afford(std::uint64_t bytes, std::uint64_t offset);

 private:
  void take_start(const format::FrameHeader& header, ByteSpan payload);
  void take_names(const format::FrameHeader& header, ByteSpan payload);
  void take_step_end(const format::FrameHeader& header, ByteSpan payload);
  bool afford_or_stop(std::uint64_t bytes, const format::FrameHeader& header);
  std::uint64_t cost_of(const format::NameEntry& entry) const;
  std::uint64_t cost_of(const Metric& metric) const;
  std::uint64_t cost_of(std::span<const Collection> collections) const;
  void take_samples(const format::FrameHeader& header);
  void take_operators(const format::FrameHeader& header);
  void take_steps(const format::SegmentIndexView& index);
  void take_sharing_steps(const format::SegmentIndexView& index);
  void add_step(const format::StepIndexRow& step, std::uint32_t layout);
  std::uint64_t cost_of(const format::SegmentIndexView& index) const;
  std::uint64_t name_tensors(std::vector<format::RecordIndexRow>& records) const;
  void take_index_of_operators(const format::SegmentIndexView& index);
  void add_undecodable(const format::FrameHeader& header, const Status& status);
  void drop_pending(std::optional<std::int64_t> but_step);

  JournalContents& contents_;
  const SegmentIdentity identity_;
  std::unordered_map<std::uint32_t, std::uint32_t> tensor_by_id_;
  std::unordered_map<std::uint32_t, std::uint32_t> metric_by_id_;
  std::vector<format::FrameHeader> pending_;  // data frames whose step_end has not come yet
  bool refused_ = false;
};

}  // namespace trainwarden::journal
