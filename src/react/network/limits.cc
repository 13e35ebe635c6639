#include "react/network/limits.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::network {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kShortest{100};
constexpr milliseconds kLongest{3'600'000};

// Absolute, so that it is found from wherever an event is delivered later.
std::string existing_file(actions::ActionParameters& parameters, std::string_view name) {
  const std::string given = parameters.text(name);
  if (given.empty()) return {};
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(given, error);
  if (error || !std::filesystem::is_regular_file(path, error)) {
    parameters.refuse(
        Status(Code::kInvalidArgument,
               fmt::format("{}: expected a file with certificates (PEM), but {} is none", name, printable(given))));
  }
  return path.string();
}

}  // namespace

exchange::TransferLimits take_limits(actions::ActionParameters& parameters, milliseconds default_timeout) {
  exchange::TransferLimits limits;
  limits.timeout = parameters.duration("timeout", default_timeout);
  if (limits.timeout < kShortest || limits.timeout > kLongest) {
    parameters.refuse(
        Status(Code::kInvalidArgument, fmt::format("timeout: expected a time from 100ms to 1h, found {}",
                                                   format_duration_ns(limits.timeout.count() * 1'000'000))));
  }
  limits.connect_timeout = std::min(limits.connect_timeout, limits.timeout);
  limits.ca_file = existing_file(parameters, "ca_file");
  return limits;
}

}  // namespace trainwarden::network
