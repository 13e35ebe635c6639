// A small run for tests: steps with every dtype and every kind of record, the same at every call.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "store/journal/journal_reader.h"
#include "store/journal/journal_writer.h"
#include "store/storage/storage.h"

namespace trainwarden::journal {

// A batch that owns the memory that its tensors borrow.
class SampleStep {
 public:
  SampleStep(std::int64_t global_step, Mode mode, std::int64_t mode_step);
  SampleStep(const SampleStep&) = delete;
  SampleStep& operator=(const SampleStep&) = delete;

  void name_tensor(std::uint32_t id, std::string name, std::vector<std::string> collections = {});
  void keep(std::uint32_t id, DType dtype, const Shape& shape);  // elements that depend on id and step
  void keep_strings(std::uint32_t id, const Shape& shape, std::vector<std::string> strings);
  void add_statistics(std::uint32_t id);
  void add_shape(std::uint32_t id, DType dtype, const Shape& shape);
  void add_scalar(std::uint32_t id, double value);
  void add_reductions(std::uint32_t id);  // every one, plain and of |x|
  void lose(std::string cause, std::uint64_t count, std::uint64_t bytes);

  const StepBatch& batch() const { return batch_; }

 private:
  StepBatch batch_;
  std::deque<std::vector<std::byte>> data_;
  std::deque<std::vector<std::string>> strings_;
};

RunInfo sample_run_info();
JournalOptions sample_journal_options();

// The name of sample tensor `id`, and the dtype as which step_of_everything() keeps it.
std::string sample_name(std::uint32_t id);

// All dtypes, strings, an empty tensor and a scalar tensor, statistics with histogram and hash, a shape, scalars and
// losses. Tells the names when asked to.
std::unique_ptr<SampleStep> step_of_everything(std::int64_t global_step, Mode mode, std::int64_t mode_step,
                                               bool with_names);
// Single reductions of ids 0 to 2, beside a value, beside statistics and alone.
std::unique_ptr<SampleStep> step_of_reductions(std::int64_t global_step, bool with_names);
// One value, one row of statistics and one scalar, of ids 0 to 2.
std::unique_ptr<SampleStep> small_step(std::int64_t global_step, bool with_names);

// 340 scalars and a value. Every third step lacks a scalar and has a loss.
std::unique_ptr<SampleStep> step_of_many_scalars(std::int64_t global_step, bool with_names);

// Everything that the reader has for steps()[step_index] is what the batch says, bit for bit.
// Empty when it is; otherwise the first difference. `missing_is_fine` for damaged runs: what is there must be right.
std::string difference(JournalReader& reader, std::size_t step_index, const StepBatch& batch,
                       bool missing_is_fine = false);

// Opens the journal of sample_journal_options() and fails the program when that fails.
std::unique_ptr<JournalWriter> open_sample_writer(storage::Storage& storage, const Clock& clock,
                                                  JournalOptions options = sample_journal_options());
std::unique_ptr<JournalReader> open_sample_reader(const storage::Storage& storage, bool live,
                                                  std::string_view writer = "rank-00000");

}  // namespace trainwarden::journal
