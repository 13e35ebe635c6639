// JournalContents: what a journal is known to hold, gathered from its segments.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/base/large_memory.h"
#include "core/base/read_budget.h"
#include "data/format/frame.h"
#include "data/format/names_record.h"
#include "data/format/record_layouts.h"
#include "store/journal/journal_reader.h"
#include "store/journal/loss_list.h"
#include "store/journal/open_files.h"
#include "store/journal/recent_texts.h"
#include "trainwarden/collection.h"
#include "trainwarden/metric.h"

namespace trainwarden::journal {

// What a step consists of on disk.
struct StepData {
  static constexpr std::uint32_t kNotLoaded = 0xFFFFFFFF;
  std::uint32_t segment = 0;                // index of the segment among those of the journal
  std::uint32_t layout = kNotLoaded;        // of its records; the frames below are not needed any more
  std::uint64_t first_offset = 0;           // its records count frames from here: index into frame_offsets
  std::vector<format::FrameHeader> frames;  // bundle, statistics, scalars
  bool loaded() const { return layout != kNotLoaded; }
};

// Where an event lies, and what its header says.
struct EventPlace {
  format::FrameKind kind = format::FrameKind::kEvent;
  std::uint32_t segment = 0;  // index of the segment among those of the journal
  std::uint64_t offset = 0;
  std::int64_t step = -1;
  std::int64_t unix_ns = 0;
};

// Where a frame of samples lies, and what is known of it.
struct SampleFrame {
  enum class State : std::uint8_t { kUnread, kKnown, kUnreadable };
  State state = State::kUnread;
  std::uint32_t segment = 0;  // index of the segment among those of the journal
  std::uint64_t offset = 0;
  // Of a known one.
  std::int64_t first_unix_ns = 0;
  std::int64_t last_unix_ns = 0;
  std::uint32_t lowest_metric = 0;  // the segment's ids
  std::uint32_t highest_metric = 0;
};

// Where a frame of operator calls lies.
struct OperatorFrame {
  std::uint32_t segment = 0;  // index of the segment among those of the journal
  std::uint64_t offset = 0;
  std::int64_t step = -1;
};

// What a step, a record of it, ... take in memory on all floors that keep them, about.
inline constexpr std::uint64_t kStepCost = 256;
inline constexpr std::uint64_t kRecordCost = 48;
inline constexpr std::uint64_t kSharedRecordCost = 8;  // of one that a step shares with others
inline constexpr std::uint64_t kTensorCost = 256;
inline constexpr std::uint64_t kMembershipCost = 128;  // of one tensor in one collection
inline constexpr std::uint64_t kCollectionCost = 1024;
inline constexpr std::uint64_t kEventCost = 128;
inline constexpr std::uint64_t kMetricCost = 512;
inline constexpr std::uint64_t kSampleFrameCost = 64;
inline constexpr std::uint64_t kOperatorFrameCost = 32;

struct JournalContents {
  std::shared_ptr<ReadBudget> budget = std::make_shared<ReadBudget>();
  std::shared_ptr<OpenFiles> open_files = std::make_shared<OpenFiles>();
  std::vector<JournalTensor> tensors;
  std::vector<StepEntry, LargeAllocator<StepEntry>> steps;
  std::vector<StepData, LargeAllocator<StepData>> step_data;  // beside steps
  format::RecordLayouts layouts;  // of these: `tensor` is an index into tensors, `frame` one from first_offset on
  std::vector<std::uint64_t, LargeAllocator<std::uint64_t>> frame_offsets;
  std::vector<EventPlace> events;  // their texts are read when asked for
  RecentTexts recent_texts;
  std::vector<Metric> metrics;
  std::vector<SampleFrame> sample_frames;      // in the order of writing
  std::vector<OperatorFrame> operator_frames;  // in the order of writing
  std::vector<Collection> collections;
  LossList losses;
  std::unordered_map<std::string, std::uint32_t> tensor_by_name;  // indexes into tensors
  std::unordered_map<std::string, std::size_t> collection_by_name;
  std::map<std::tuple<std::string, MetricSource, std::string>, std::uint32_t> metric_by_key;  // indexes into metrics

  // For so many more with so many frames: their memory is then taken at once.
  void make_room_for_steps(std::size_t count, std::size_t frames);
  // The index of the tensor of this name, which is added when it is new.
  std::uint32_t tensor_index(std::string_view name);
  std::uint32_t add_name(const format::NameEntry& entry);
  bool knows(const Metric& metric) const;
  // Its index. What is written of it later counts.
  std::uint32_t add_metric(const Metric& metric);
  // A later definition of a collection takes the place of the earlier one.
  void add_collections(std::span<const Collection> added);
};

}  // namespace trainwarden::journal
