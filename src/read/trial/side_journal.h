// SideJournal: a journal that somebody beside the workers writes, with samples and events, followed while it grows.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "read/trial/run_source.h"
#include "read/trial/run_state.h"
#include "read/trial/sampled_journal.h"
#include "store/journal/journal_reader.h"
#include "trainwarden/run_loss.h"
#include "trainwarden/status.h"

namespace trainwarden::trial {

// One thread at a time. The source must outlive it.
class SideJournal : public SampledJournal {
 public:
  SideJournal(RunSource& source, SourceWorker writer) : source_(source), writer_(std::move(writer)) {}

  // Takes in what has been written since.
  Status refresh();

  const std::string& name() const override { return writer_.name; }
  const WorkerLife& life() const override { return life_; }
  std::span<const RunLoss> losses() const;
  journal::JournalReader& reader() override { return *reader_; }
  bool readable() const override { return reader_ != nullptr; }

 protected:
  // An event that is new, but for the end of the writing, which is taken in already.
  virtual void take(const journal::EventEntry& event) { static_cast<void>(event); }
  // Should the writing have ended: it goes on.
  void note_going_on() { life_.run_end.reset(); }

 private:
  Status take_in_events();

  RunSource& source_;
  const SourceWorker writer_;
  WorkerLife life_;
  std::unique_ptr<journal::JournalReader> reader_;
  std::size_t events_read_ = 0;
};

}  // namespace trainwarden::trial
