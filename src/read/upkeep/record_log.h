// RecordLog: the records of a run one after the other, by time, as they were written: for `cat` and `tail`.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/regex.h"
#include "store/journal/journal_reader.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::upkeep {

enum class LogKind : std::uint8_t { kStep, kTensor, kEvent, kVerdict, kAction, kSamples, kOperators };
inline constexpr int kLogKinds = 7;
std::string_view name(LogKind kind);  // "step", "tensor", "event", "verdict", "action", "samples", "operators"
std::optional<LogKind> parse_log_kind(std::string_view name);

// All fields narrow the answer; an empty list means any.
struct LogFilter {
  std::vector<LogKind> kinds{};
  std::vector<std::string> tensors{};   // PCRE2, found anywhere in the name
  std::vector<std::string> journals{};  // "rank-00000", "ledger"
  // Global steps; what belongs to no step is left out when they are narrowed.
  std::int64_t first_step = std::numeric_limits<std::int64_t>::min();
  std::int64_t end_step = std::numeric_limits<std::int64_t>::max();
  bool with_values = false;  // reads the elements of values
};

// What is not of its kind is empty.
struct RunLogLine {
  LogKind kind = LogKind::kStep;
  std::string journal;
  std::int64_t unix_ns = 0;
  std::int64_t step = -1;  // global
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = -1;
  std::uint64_t records = 0;  // of a step, tensors in all forms
  // Of a tensor.
  std::string tensor;
  journal::RecordForm form = journal::RecordForm::kValue;
  bool has_shape = false;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::optional<TensorValue> value;  // with_values
  std::optional<Statistics> statistics;
  std::optional<double> scalar;
  std::vector<SavedReduction> reductions;
  std::string json;                                       // of an event, a verdict, an action
  std::vector<std::pair<const Metric*, double>> samples;  // all of one tick, for the visit
  std::uint64_t calls = 0;                                // of operators
  std::uint64_t lost_calls = 0;
  Status problem;  // why it could not be read; the rest is what is known of it
};

using LogVisitor = std::function<Status(const RunLogLine&)>;  // its failure ends the visit

// One thread at a time.
class RecordLog {
 public:
  // kInvalidArgument for a bad pattern and for a journal that the run does not have; the errors of opening a run.
  static Result<std::unique_ptr<RecordLog>> open(const storage::Location& run, const LogFilter& filter);

  // Takes in what has been written since.
  Status refresh();
  // Every record that there is.
  Status visit_all(const LogVisitor& visit);
  // The last ones.
  Status visit_last(std::uint64_t count, const LogVisitor& visit);
  // Those that came with the last refresh().
  Status visit_new(const LogVisitor& visit);
  // As of the last refresh.
  RunState state() const { return trial_->state(); }

 private:
  struct LogJournal {
    std::string name;
    journal::JournalReader* reader = nullptr;
    std::unique_ptr<journal::JournalReader> own;
    std::vector<journal::EventEntry> events;  // all, with their texts
    std::size_t steps_seen = 0;
    std::vector<std::int64_t> operator_steps_seen;
    std::size_t frames_seen = 0;  // of samples
    std::size_t frames_before = 0;
  };
  // What has a place in time. Of samples there are none: they are read when their time comes.
  struct LogItem {
    std::int64_t unix_ns = 0;
    std::uint32_t journal = 0;
    LogKind kind = LogKind::kStep;
    std::size_t index = 0;  // of the step or the event; of operators the global step
    std::uint64_t order = 0;
  };
  // All samples of one journal at one time.
  struct LogTick {
    std::int64_t unix_ns = 0;
    std::uint32_t journal = 0;
    std::vector<std::pair<std::uint32_t, double>> samples;  // by the reader's index of the metric
  };
  struct Walk;

  RecordLog(storage::Location run, LogFilter filter) : run_(std::move(run)), filter_(std::move(filter)) {}

  Status find_journals();
  Status take_new(std::uint32_t index);
  Status check_journals() const;
  bool wants(LogKind kind) const;
  bool wants_step(std::int64_t step) const;
  bool wants_tensor(std::string_view name) const;

  Status visit_from(std::int64_t from, std::uint64_t skip, const LogVisitor& visit);
  Status emit(std::vector<LogItem> items, std::vector<LogTick> ticks, Walk& walk);
  Status emit_item(const LogItem& item, Walk& walk);
  Status emit_step(const LogItem& item, Walk& walk);
  Status emit_tensor(journal::JournalReader& reader, const journal::Record& record, RunLogLine line, Walk& walk) const;
  Status emit_event(const LogItem& item, Walk& walk);
  Status emit_operators(const LogItem& item, Walk& walk);
  Result<std::vector<LogTick>> ticks_in(std::int64_t from, std::int64_t to, bool only_new);
  Result<std::optional<std::int64_t>> next_sample(std::int64_t from);
  Result<std::uint64_t> count_from(std::int64_t from);
  std::uint64_t lines_of_step(journal::JournalReader& reader, std::size_t index) const;

  const storage::Location run_;
  const LogFilter filter_;
  std::vector<Regex> patterns_;
  std::unique_ptr<Trial> trial_;
  journal::RunInfo info_;
  bool is_foreign_ = false;
  std::vector<std::unique_ptr<LogJournal>> journals_;
  std::vector<LogItem> items_;  // by time
  std::vector<LogItem> new_items_;
  std::uint64_t next_order_ = 0;
};

}  // namespace trainwarden::upkeep
