#include "core/base/clock.h"

#include <chrono>

namespace trainwarden {
namespace {

class SystemClock final : public Clock {
 public:
  std::int64_t unix_ns() const override { return ns(std::chrono::system_clock::now().time_since_epoch()); }
  std::int64_t steady_ns() const override { return ns(std::chrono::steady_clock::now().time_since_epoch()); }

 private:
  template <class Duration>
  static std::int64_t ns(Duration since_epoch) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
  }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace trainwarden
