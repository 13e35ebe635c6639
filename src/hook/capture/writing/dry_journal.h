// DryJournal: the journal of a dry run. Everything is decided, copied and counted, and nothing is written.
#pragma once

#include "store/journal/journal_writer.h"

namespace trainwarden::capture {

class DryJournal final : public journal::JournalWriter {
 public:
  Status append_step(const journal::StepBatch&) override { return Status(); }
  Status append_part(const journal::StepBatch&) override { return Status(); }
  bool holds_parts() const override { return true; }
  Status append_event(format::FrameKind, std::int64_t, std::string_view) override { return Status(); }
  Status append_samples(const journal::SampleBatch&) override { return Status(); }
  Status append_operators(const OperatorBatch&) override { return Status(); }
  Status change_collections(std::vector<Collection>) override { return Status(); }
  Status sync() override { return Status(); }
  Status seal() override { return Status(); }
  void beat() override {}
  std::uint64_t written_bytes() const override { return 0; }
};

}  // namespace trainwarden::capture
