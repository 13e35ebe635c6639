// What the wheel's parts would else ask of the C library of Debian 12, so that it loads with that of 2021 (2.34) too.
// Only wheels of ./dev wheel have this in them (cmake/TrainwardenWheel.cmake); auditwheel finds what is missing here.
#include <sys/random.h>

#include <cstdint>

extern "C" {

// libstdc++ takes its random numbers from it; in the C library since 2.36.
std::uint32_t arc4random() {
  std::uint32_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
  }
  return bits;
}

#ifdef __x86_64__
// 2.35 has one that leaves errno alone; the number is the same.
__asm__(".symver hypot_with_errno, hypot@GLIBC_2.2.5");
double hypot_with_errno(double x, double y);
double own_hypot(double x, double y) __asm__("hypot");
double own_hypot(double x, double y) {
  return hypot_with_errno(x, y);
}
#endif

}  // extern "C"
