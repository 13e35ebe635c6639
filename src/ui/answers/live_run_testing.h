// LiveRun: a run on disk that takes a step when it is asked to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "store/journal/journal_writer.h"
#include "store/storage/storage.h"

namespace trainwarden::answers {

// Every failure to write fails the test.
class LiveRun {
 public:
  // `digit`: of the run's id, which tells it from another one of this name.
  explicit LiveRun(const std::filesystem::path& folder, char digit = 'a');

  void step(std::int64_t step);
  // As an engine that judges the run does: something in a journal of verdicts.
  void judge();

 private:
  std::shared_ptr<storage::Storage> storage_;
  journal::RunInfo info_;
  std::unique_ptr<journal::JournalWriter> writer_;
  std::unique_ptr<journal::JournalWriter> watch_;
};

}  // namespace trainwarden::answers
