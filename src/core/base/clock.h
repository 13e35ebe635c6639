// Clock: time behind an interface, so that tests and golden files have their own.
#pragma once

#include <atomic>
#include <cstdint>

namespace trainwarden {

// May be called from many threads at once.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t unix_ns() const = 0;    // wall time, for people and for order across workers
  virtual std::int64_t steady_ns() const = 0;  // never jumps, for durations
};

// The machine's clocks.
const Clock& system_clock();

// Stands still until it is moved.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(std::int64_t unix_ns = 1'700'000'000'000'000'000) : now_(unix_ns) {}
  std::int64_t unix_ns() const override { return now_.load(); }
  std::int64_t steady_ns() const override { return now_.load(); }
  void advance_ns(std::int64_t ns) { now_ += ns; }

 private:
  std::atomic<std::int64_t> now_;
};

}  // namespace trainwarden
