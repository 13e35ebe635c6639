// Fuzzes traces of PyTorch's profiler: what comes out of them has times that can be added to a base.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "data/foreign/kineto_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace trainwarden;
  std::string_view text(reinterpret_cast<const char*>(data), bytes);
  std::uint64_t events = 0;
  const auto trace = foreign::read_kineto_trace(
      [&](std::span<char> space) -> Result<std::size_t> {
        const std::size_t taken = std::min({text.size(), space.size(), std::size_t{11}});
        std::memcpy(space.data(), text.data(), taken);
        text.remove_prefix(taken);
        return taken;
      },
      [&](const foreign::KinetoEvent& event) {
        ++events;
        constexpr std::int64_t kMost = 9'000'000'000'000'000'999;
        if (event.duration_ns < 0 || event.duration_ns > kMost || std::abs(event.start_ns) > kMost) std::abort();
        return Status();
      });
  if (trace.ok() ? trace->events != events : trace.status().code() != Code::kDataLoss) std::abort();
  return 0;
}
