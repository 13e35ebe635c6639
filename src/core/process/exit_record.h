// ExitRecord: how a program ended, and what it took.
#pragma once

#include <chrono>
#include <cstdint>

namespace trainwarden::process {

struct ExitRecord {
  enum class How : std::uint8_t {
    kExited,
    kSignalled,
    kUnknown,  // somebody else took the exit code: this process ignores SIGCHLD, or waits for any child
  };
  How how = How::kUnknown;
  int number = 0;                    // the exit code, or the signal
  std::chrono::nanoseconds wall{0};  // from its start until its end was noticed
  // Of the program and of its children that it has waited for; zero when the end is unknown.
  std::chrono::microseconds user_cpu{0};
  std::chrono::microseconds system_cpu{0};
  std::uint64_t peak_memory_bytes = 0;  // resident, of the largest single process

  // As shells have it: the exit code, 128 + N when signal N ended it; 255 when nobody knows.
  int shell_code() const {
    if (how == How::kUnknown) return 255;
    return how == How::kSignalled ? 128 + number : number;
  }
};

// What shells return for a program that cannot be started.
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

}  // namespace trainwarden::process
