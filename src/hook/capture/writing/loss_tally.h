// LossTally: what could not be kept, counted by cause.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "store/journal/journal_writer.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

// One thread at a time.
class LossTally {
 public:
  // `message` is a function that gives the text; it is called for the first loss of a cause only.
  template <class Message>
  void add(LossCause cause, std::uint64_t count, std::uint64_t bytes, Message message);
  void merge(const LossTally& other);

  bool empty() const;
  std::uint64_t count() const;                 // over all causes
  std::vector<CaptureLoss> losses() const;     // only causes that occurred
  std::vector<journal::LossRow> rows() const;  // the same, as the journal writes them

 private:
  std::array<CaptureLoss, kLossCauseCount> by_cause_{};
};

// The same for all threads of a hook.
class SharedLossTally {
 public:
  template <class Message>
  void add(LossCause cause, std::uint64_t count, std::uint64_t bytes, Message message) {
    std::lock_guard lock(mutex_);
    tally_.add(cause, count, bytes, message);
  }
  std::vector<CaptureLoss> losses() const {
    std::lock_guard lock(mutex_);
    return tally_.losses();
  }

 private:
  mutable std::mutex mutex_;
  LossTally tally_;
};

template <class Message>
void LossTally::add(LossCause cause, std::uint64_t count, std::uint64_t bytes, Message message) {
  CaptureLoss& loss = by_cause_[static_cast<std::size_t>(cause)];
  const bool first = loss.count == 0;
  loss.count += count;
  loss.bytes += bytes;
  if (first) loss.first_message = message();
}

}  // namespace trainwarden::capture
