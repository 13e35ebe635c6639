// What the tests of this floor share: hooks on a storage in memory, a journal that obeys the test, and runs read back.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "store/journal/journal_reader.h"
#include "store/journal/journal_writer.h"
#include "store/storage/memory_storage.h"
#include "store/storage/storage.h"
#include "trainwarden/hook.h"
#include "trainwarden/run_loss.h"
#include "trainwarden/tensor_value.h"

namespace trainwarden::capture {

inline constexpr std::int64_t kMillisecond = 1'000'000;  // in nanoseconds

// The storage stays with the test.
std::shared_ptr<storage::Storage> borrowed(storage::Storage& storage);

// Opens a hook on `storage`; fails the program when that fails.
std::unique_ptr<Hook> open_hook_on(storage::Storage& storage, HookOptions options);

// Options that keep the tensors whose names `pattern` finds, at every step.
HookOptions keep_all_of(std::string pattern);

// A float32 view of `values`, one-dimensional; they must outlive it.
TensorView view_of(const std::vector<float>& values);
std::vector<float> floats_of(const TensorValue& value);

struct ReadStep {
  journal::StepEntry entry;
  std::map<std::string, TensorValue> values;
  std::map<std::string, journal::StatisticsRow> statistics;
  std::map<std::string, double> scalars;
  std::map<std::string, std::vector<SavedReduction>> reductions;
};

struct ReadRun {
  std::vector<ReadStep> steps;
  std::vector<std::string> events;
  std::vector<RunLoss> losses;
  std::map<std::string, std::vector<std::string>> collections_of;
  std::vector<Collection> collections;

  // How many items the writer said it lost to this cause.
  std::uint64_t lost(std::string_view cause) const;
};

// Everything that the worker's journal holds now. Damage fails the test.
ReadRun read_run(const storage::Storage& storage, int rank = 0);

// How many items the report says were lost to this cause.
std::uint64_t lost(const HookReport& report, LossCause cause);

// A journal in memory that fails or waits on request. Shared between the test and the writer thread.
class FakeJournal {
 public:
  // The journal to give away; this object must outlive it.
  std::unique_ptr<journal::JournalWriter> create();

  void fail_with(Status status);  // from now on; ok: works again
  void fail_syncs_with(Status status);
  void hold();  // appends wait until release()
  void release();
  // Waits until an append is waiting.
  void wait_until_held();

  std::vector<journal::StepBatch> batches() const;  // without the tensors' bytes
  std::vector<journal::StepBatch> parts() const;    // the same of steps that went on
  std::vector<OperatorBatch> operators() const;
  std::vector<std::string> events() const;
  std::vector<Collection> collections() const;  // as they were changed
  int syncs() const;
  int attempts() const;  // of appends
  bool sealed() const;

 private:
  class Writer;
  Status append(const journal::StepBatch* batch, std::string_view event, bool is_part = false);
  Status append_operators(const OperatorBatch& batch);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Status failure_;
  Status sync_failure_;
  bool held_ = false;
  bool waiting_ = false;
  bool sealed_ = false;
  int syncs_ = 0;
  int attempts_ = 0;
  std::vector<journal::StepBatch> batches_;
  std::vector<journal::StepBatch> parts_;
  std::vector<OperatorBatch> operators_;
  std::vector<std::string> events_;
  std::vector<Collection> collections_;
};

}  // namespace trainwarden::capture
