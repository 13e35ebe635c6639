// GuardJournal: what a guard has to say, on its way from the training thread to a journal of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "data/format/frame.h"
#include "judge/rules/watch_journal.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::guard {

// add() belongs to the training thread, the rest to the thread that writes.
class GuardJournal {
 public:
  // So much waits at most for a storage that does not answer; what comes then is dropped, and that is logged.
  static constexpr std::size_t kMaxWaiting = 1000;

  // Without a storage nothing is written. `clock` must outlive it.
  GuardJournal(std::shared_ptr<storage::Storage> storage, const Clock& clock)
      : storage_(std::move(storage)), clock_(clock) {}

  void add(format::FrameKind kind, std::int64_t global_step, std::string json);

  // Writes what waits. The journal is opened when there is something to write for the first time. A failure is logged
  // once and ends the writing.
  void write();
  void finish();  // and seals

 private:
  struct Frame {
    format::FrameKind kind;
    std::int64_t global_step;
    std::string json;
  };
  Status write_all(const std::vector<Frame>& frames);

  const std::shared_ptr<storage::Storage> storage_;
  const Clock& clock_;
  rules::WatchJournal journal_;
  bool failed_ = false;

  std::mutex mutex_;            // guards all below
  std::vector<Frame> waiting_;  // at most kMaxWaiting
};

}  // namespace trainwarden::guard
