// SampledJournal: a journal that may hold samples over time, whoever writes it: a worker, who reads its output, a
// machine's sampler.
#pragma once

#include <string>

#include "read/trial/run_state.h"
#include "store/journal/journal_reader.h"

namespace trainwarden::trial {

// One thread at a time.
class SampledJournal {
 public:
  virtual ~SampledJournal() = default;

  virtual const std::string& name() const = 0;  // "rank-00000", "output-0", "machine-0"
  virtual const WorkerLife& life() const = 0;
  // The reader; only where readable(): after a refresh that succeeded.
  virtual journal::JournalReader& reader() = 0;
  virtual bool readable() const = 0;
};

}  // namespace trainwarden::trial
