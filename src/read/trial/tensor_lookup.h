// Finds one tensor at one step, or says why it is not there.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "read/trial/run_reader.h"
#include "store/journal/journal_reader.h"
#include "trainwarden/mode.h"
#include "trainwarden/status.h"

namespace trainwarden::trial {

// One tensor at one step in the journal of one worker, in at least one form.
class Sighting {
 public:
  Sighting(WorkerJournal& worker, std::uint32_t tensor, std::span<const journal::Record> records);

  bool empty() const;
  bool has(journal::RecordForm form) const { return record(form).has_value(); }
  const std::optional<journal::Record>& record(journal::RecordForm form) const {
    return records_[static_cast<std::size_t>(form)];
  }
  journal::JournalReader& reader() const { return worker_->reader(); }
  // "its statistics and its shape", "its mean and its abs mean": for messages.
  std::string forms_text() const;

 private:
  WorkerJournal* worker_;
  std::array<std::optional<journal::Record>, format::kRecordFormCount> records_;
};

// What is asked for.
struct TensorPlace {
  std::string_view tensor;
  std::int64_t step = 0;
  Mode mode = Mode::kGlobal;
  std::string_view worker{};  // empty: the first that has it
};

// "\"conv0.weight\" at step 3", for messages.
std::string place_text(const TensorPlace& place);
// kOutOfRange: the tensor is there, but not in the form that is wanted; says what was kept of it.
Status not_kept(const TensorPlace& place, const Sighting& sighting, std::string_view wanted);
// The same of a value, with the nearest steps that have it.
Status value_not_kept(RunReader& run, const TensorPlace& place, const Sighting& sighting);

// kNotFound for an unknown tensor, with the nearest names.
Result<CatalogTensor*> find_known_tensor(RunReader& run, std::string_view name);

// None when no worker (or not the one asked for; empty: any) has the tensor at this step. kDataLoss when what says so
// whether it is there is damaged.
Result<std::optional<Sighting>> look_for(RunReader& run, const CatalogTensor& tensor, std::int64_t global_step,
                                         std::string_view worker);

// The same with all names to be looked up: kNotFound for an unknown tensor or worker, kOutOfRange when it is not there
// at this step (with the nearest steps that have it), kDataLoss as above.
Result<Sighting> find_tensor(RunReader& run, const TensorPlace& place);

// The step's global number. kNotFound when nothing is known of it, with the nearest steps.
Result<std::int64_t> find_global_step(RunReader& run, std::int64_t step, Mode mode);

}  // namespace trainwarden::trial
