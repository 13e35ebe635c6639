// ForkAwareMutex: a mutex that a forked child can lock, whoever held it when the process forked: Python's data loaders
// fork while other threads read. What it guards may then be as that thread left it, so it is for short changes of
// memory.
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>

namespace trainwarden::storage {

class ForkAwareMutex {
 public:
  ForkAwareMutex() = default;
  ~ForkAwareMutex() { delete own_.load(); }
  ForkAwareMutex(const ForkAwareMutex&) = delete;
  ForkAwareMutex& operator=(const ForkAwareMutex&) = delete;

  void lock() { mutex().lock(); }
  void unlock() { mutex().unlock(); }

 private:
  struct Own {
    std::mutex mutex;
    pid_t process = ::getpid();
  };

  // That of the parent is left behind: the thread that could unlock it is not here.
  std::mutex& mutex() {
    Own* own = own_;
    while (own->process != ::getpid()) {
      auto fresh = std::make_unique<Own>();
      if (own_.compare_exchange_strong(own, fresh.get())) own = fresh.release();
    }
    return own->mutex;
  }

  std::atomic<Own*> own_ = new Own;
};

}  // namespace trainwarden::storage
