// WorkerContents: what is in the index files of one of smdebug's workers, as tensors, steps and records.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/foreign/smdebug_index.h"
#include "store/journal/journal_reader.h"
#include "trainwarden/reduction.h"
#include "trainwarden/status.h"

namespace trainwarden::trial {

// Where a record lies in the event file of its step: header and footer included.
struct EventSpan {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// One thread at a time.
class WorkerContents {
 public:
  explicit WorkerContents(std::string worker) : worker_(std::move(worker)) {}

  // Takes in the index of one more step. kDataLoss when it cannot be; nothing of it is kept then.
  Status take_in(std::int64_t step, const foreign::SmdebugIndex& index);

  std::span<const journal::JournalTensor> tensors() const { return tensors_; }
  std::span<const journal::StepEntry> steps() const { return steps_; }
  std::span<const journal::Record> records(std::size_t step_index) const;
  // The step's file, as its index names it; empty when it has only shapes, or does not name it.
  std::string event_file(std::size_t step_index) const;

  struct ReductionPlace {
    std::uint32_t tensor = 0;
    Reduction reduction = Reduction::kMean;
    bool abs = false;
    EventSpan place;
  };
  // What a record of each form stands for.
  EventSpan value_place(const journal::Record& record) const { return {record.frame_offset, record.row}; }
  std::span<const ReductionPlace> reductions(const journal::Record& record) const;
  const Shape& shape(const journal::Record& record) const { return shapes_[record.row]; }

 private:
  // What a tag in an index file means: each is looked into once.
  struct Tag {
    std::uint32_t tensor = 0;
    std::optional<Reduction> reduction;
    bool abs = false;
  };
  // Where a tensor's newest records are in records_.
  struct LastRecords {
    std::optional<std::size_t> value;
    std::optional<std::size_t> shape;
  };
  struct NameHash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  template <class Value>
  using ByName = std::unordered_map<std::string, Value, NameHash, std::equal_to<>>;

  std::uint32_t step_index() const { return static_cast<std::uint32_t>(steps_.size() - 1); }
  const Tag& tag(std::string_view text);
  std::uint32_t tensor_index(std::string_view name);
  void add_value(std::uint32_t tensor, const foreign::SmdebugTensorPlace& place);
  void add_reduction(const Tag& tag, const foreign::SmdebugTensorPlace& place);
  void add_reduction_records(std::size_t first);
  void add_shape(const foreign::SmdebugShape& shape);
  journal::Record& record_of(std::uint32_t tensor, journal::RecordForm form);

  std::string worker_;
  std::vector<journal::JournalTensor> tensors_;
  ByName<std::uint32_t> tensor_by_name_;
  std::vector<LastRecords> last_records_;  // beside tensors_
  ByName<Tag> tags_;

  std::vector<journal::StepEntry> steps_;
  std::vector<std::size_t> record_ends_;  // beside steps_: where its records end in records_
  std::vector<journal::Record> records_;
  std::vector<ReductionPlace> reductions_;
  std::vector<Shape> shapes_;
  std::unordered_map<std::string, std::uint32_t> shape_by_text_;        // index into shapes_
  std::unordered_map<std::uint32_t, std::string> unusual_event_files_;  // by step_index
};

}  // namespace trainwarden::trial
