// TestRun: writes small runs into memory, the way a hook does. For tests of this floor and those above.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "read/trial/trial_access.h"
#include "store/journal/journal_writer.h"
#include "store/journal/run_folder.h"
#include "store/storage/memory_storage.h"
#include "trainwarden/trial.h"

namespace trainwarden {

// One tensor of one step.
struct TestTensor {
  std::string name;
  journal::RecordForm form = journal::RecordForm::kValue;
  std::vector<float> values{};         // for kScalar the first is the scalar
  std::vector<std::string> strings{};  // when not empty: a string tensor, kept whole
  std::vector<std::string> collections{};
  std::vector<SavedReduction> reductions{};  // for kReductions
  Shape shape{};                             // empty: one dimension
  StatisticsOptions statistics{};            // for kStatistics
  std::vector<std::int64_t> integers{};      // when not empty: in place of `values`, of dtype int64
  std::vector<double> doubles{};             // the same of dtype float64
  DType half_dtype = DType::kFloat16;        // of `halves`
  std::vector<std::uint16_t> halves{};       // bits; when not empty: in place of `values`
};

TestTensor kept(std::string name, std::vector<float> values, std::vector<std::string> collections = {});
TestTensor reduced(std::string name, std::vector<float> values, std::vector<std::string> collections = {});
// Statistics with a histogram and a hash.
TestTensor summarised(std::string name, std::vector<float> values, std::vector<std::string> collections = {});
TestTensor kept_integers(std::string name, std::vector<std::int64_t> values, std::vector<std::string> collections = {});
TestTensor kept_doubles(std::string name, std::vector<double> values, std::vector<std::string> collections = {});
// Of dtype float16 or bfloat16: its values cut to it. Normal numbers within its range, and zeros, only.
TestTensor in_half(TestTensor tensor, DType dtype);
TestTensor shaped(TestTensor tensor, const Shape& shape);  // with these dimensions
TestTensor scalar(std::string name, float value, std::vector<std::string> collections = {});
TestTensor shape_only(std::string name, std::vector<float> values, std::vector<std::string> collections = {});
TestTensor single_reductions(std::string name, std::vector<SavedReduction> reductions,
                             std::vector<std::string> collections = {});
TestTensor strings(std::string name, std::vector<std::string> strings, std::vector<std::string> collections = {});

struct TestStep {
  std::int64_t step = 0;
  std::vector<TestTensor> tensors{};
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = -1;  // -1: the same as `step`
  int worker = 0;
};

// A worker starts with its first step or event. Every failure to write fails the test.
class TestRun {
 public:
  explicit TestRun(int world_size = 1, std::vector<Collection> collections = {});

  void add(const TestStep& step);
  void add_steps(std::int64_t first, std::int64_t last, int worker = 0);  // without tensors
  // Samples of one metric, each at the clock's time and `apart_ns` after the one before; the clock goes on behind the
  // last.
  void sample(const Metric& metric, const std::vector<double>& values, std::int64_t apart_ns, int worker = 0);
  // The same of several metrics at the same times, by a worker, or by the sampler of the machine.
  void sample_together(const std::vector<std::pair<Metric, std::vector<double>>>& series, std::int64_t apart_ns,
                       int worker = kMachine);
  static constexpr int kMachine = -1;  // "machine-0"; -2: "machine-1"
  void operators(const OperatorBatch& batch, int worker = 0);
  void event(const std::string& json, int worker = 0);
  void start(int worker);                          // takes the lock and writes nothing
  void end(int worker = 0, bool stopped = false);  // leaves on purpose: run_end, seal
  void kill(int worker = 0);                       // leaves without a word

  std::shared_ptr<storage::MemoryStorage> storage() const { return storage_; }
  FakeClock& clock() const { return *clock_; }
  const journal::RunInfo& info() const { return info_; }
  std::unique_ptr<Trial> open(const TrialOptions& options = {}) const;
  // The files as they are now, below a folder of the disk: for who opens runs by their path.
  void save_to(const std::filesystem::path& folder) const;

 private:
  journal::JournalWriter& writer(int worker);
  std::uint32_t id_of(const TestTensor& tensor, journal::StepBatch& batch, int worker);

  std::unique_ptr<FakeClock> clock_;
  std::shared_ptr<storage::MemoryStorage> storage_;
  journal::RunInfo info_;
  std::vector<Collection> collections_;
  std::map<int, std::unique_ptr<journal::JournalWriter>> writers_;
  std::map<int, std::map<std::string, std::uint32_t>> ids_;      // by worker, then by tensor
  std::map<int, std::map<std::string, std::uint32_t>> metrics_;  // by worker, then by name and instance
};

// Of the journal with what worker 0 printed.
std::unique_ptr<journal::JournalWriter> output_writer(const TestRun& run, const journal::RunInfo& info);

}  // namespace trainwarden
