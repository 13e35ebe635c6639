#include "store/s3/part_buffers.h"

#include <mutex>

namespace trainwarden::storage {

PartBuffers::Loan PartBuffers::borrow() {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [this] { return lent_ < most_; });
  std::string bytes;
  if (!free_.empty()) {
    bytes = std::move(free_.back());
    free_.pop_back();
  }
  ++lent_;
  return {*this, std::move(bytes)};
}

void PartBuffers::take_back(std::string bytes) {
  {
    const std::lock_guard guard(mutex_);
    --lent_;
    if (lent_ == 0) {
      free_.clear();
    } else {
      free_.push_back(std::move(bytes));
    }
  }
  returned_.notify_one();
}

}  // namespace trainwarden::storage
