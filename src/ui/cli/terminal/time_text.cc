#include "ui/cli/terminal/time_text.h"

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace trainwarden::cli {

std::string local_time_text(std::int64_t unix_ns) {
  if (unix_ns == 0) return "";
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(static_cast<std::time_t>(unix_ns / kNsPerSecond)));
}

}  // namespace trainwarden::cli
