// Work in a process of its own, with limits of memory and time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trainwarden::hostile {

inline constexpr std::uint64_t kMemoryLimit = std::uint64_t{512} << 20;
// A sanitizer reserves terabytes, has memory of its own, and takes many times as long; there, crashes are looked for.
#if defined(TW_SANITIZED)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
// Of the processor, so that a busy machine fails nobody; half of it passes on an ordinary one.
inline constexpr int kCpuSeconds = kSanitized ? 60 : 20;

struct Ending {
  std::string fault;  // empty: all was well
  std::uint64_t peak_bytes = 0;
  double cpu_s = 0;
};

// `work` says what is wrong with what it saw; "" when nothing is. A crash, more memory or time than the limits, and an
// exception are faults too.
Ending run_limited(const std::function<std::string()>& work);
// The same of a program with its arguments, whose exit status may be any but a crash.
Ending run_limited(const std::vector<std::string>& command);

}  // namespace trainwarden::hostile
