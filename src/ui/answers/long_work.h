// LongWork: a turn at work that takes a thread of the server for seconds. One at a time, so that the others stay free.
#pragma once

#include <atomic>

#include "trainwarden/status.h"

namespace trainwarden::answers {

class LongWork {
 public:
  LongWork() : mine_(!busy_.test_and_set()) {}
  ~LongWork() {
    if (mine_) busy_.clear();
  }
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

  // kUnavailable when somebody else has the turn.
  Status status() const {
    if (mine_) return {};
    return Status(Code::kUnavailable, "the server is at another long answer; ask again in a few seconds");
  }

 private:
  static inline std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  const bool mine_;
};

}  // namespace trainwarden::answers
