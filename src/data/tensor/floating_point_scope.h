// FloatingPointScope: the default floating-point environment for a while, whatever the caller has set.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace trainwarden {

// Round to nearest, denormal numbers honoured (torch.set_flush_denormal turns them off), no traps. Puts the caller's
// environment back, with its exception flags.
class FloatingPointScope {
 public:
  FloatingPointScope(const FloatingPointScope&) = delete;
  FloatingPointScope& operator=(const FloatingPointScope&) = delete;

#if defined(__x86_64__)
  // Only SSE registers are used here, and <cfenv> would also save the old x87 unit, which is slow.
  FloatingPointScope() : before_(_mm_getcsr()) {
    _mm_setcsr(kDefault);
  }
  ~FloatingPointScope() {
    _mm_setcsr(before_);
  }

 private:
  static constexpr unsigned kDefault = 0x1f80;
  unsigned before_;
#else
  FloatingPointScope() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatingPointScope() {
    std::fesetenv(&before_);
  }

 private:
  std::fenv_t before_;
#endif
};

}  // namespace trainwarden
