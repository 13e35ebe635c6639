// PartBuffers: the memory of parts that are under way. All uploads of a client share it, so that several parts of one
// file travel at once where there is one file, and a few files have no more in memory than that one has.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <string>
#include <vector>

#include "store/s3/fork_aware_mutex.h"

namespace trainwarden::storage {

// From many threads at once. Who holds a loan waits for no other.
class PartBuffers {
 public:
  explicit PartBuffers(std::size_t most) : most_(most) {}

  class Loan {
   public:
    Loan(PartBuffers& owner, std::string bytes) : owner_(owner), bytes_(std::move(bytes)) {}
    ~Loan() { owner_.take_back(std::move(bytes_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    std::string& bytes() { return bytes_; }

   private:
    PartBuffers& owner_;
    std::string bytes_;
  };

  // Waits until fewer than the most are lent. What is in it is of who had it before.
  Loan borrow();

 private:
  void take_back(std::string bytes);

  const std::size_t most_;
  ForkAwareMutex mutex_;
  std::condition_variable_any returned_;
  std::size_t lent_ = 0;
  std::vector<std::string> free_;  // none once all are back: a mirror that waits has no memory for parts
};

}  // namespace trainwarden::storage
