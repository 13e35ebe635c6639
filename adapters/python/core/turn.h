// Turn: one thread at a time in an object of ours, without ever waiting with the GIL in hand.
#pragma once

#include <unistd.h>

#include <mutex>

#include <nanobind/nanobind.h>

namespace trainwarden::python {

// Who may take turns. Recursive: a rule in Python reads the trial that is being judged.
class TurnMutex {
 public:
  // Needs the GIL, and has it again afterwards. In a forked child nobody is there who could give a lock back, so the
  // child goes on without.
  bool lock() {
    if (mutex_.try_lock()) return true;
    if (::getpid() != process_) return false;
    const nanobind::gil_scoped_release no_gil;
    mutex_.lock();
    return true;
  }
  void unlock() { mutex_.unlock(); }

 private:
  std::recursive_mutex mutex_;
  const pid_t process_ = ::getpid();
};

class Turn {
 public:
  explicit Turn(TurnMutex& mutex) : mutex_(mutex), locked_(mutex.lock()) {}
  ~Turn() {
    if (locked_) mutex_.unlock();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  TurnMutex& mutex_;
  const bool locked_;
};

}  // namespace trainwarden::python
