#include "core/base/read_budget.h"

#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/program_variables.h"
#include "core/base/text.h"

namespace trainwarden {
namespace {

constexpr double kLargestFactor = 1e6;

std::uint64_t times(std::uint64_t limit, double factor) {
  return static_cast<std::uint64_t>(static_cast<double>(limit) * factor);
}

Allowance times(const Allowance& allowance, double factor) {
  return {times(allowance.base, factor), times(allowance.per_stored_byte, factor)};
}

ReadLimits limits_of_environment() {
  const char* factor = std::getenv(variable::kReadBudget);
  if (factor == nullptr || *factor == '\0') return {};
  const Result<ReadLimits> limits = scaled_read_limits(factor);
  if (!limits.ok()) log(LogLevel::kWarning, "{}; the usual limits hold", limits.status().message());
  return limits.value_or({});
}

Status over_bytes(std::string_view what, std::uint64_t found, std::uint64_t allowed) {
  return over_read_budget(what, format_bytes(found), format_bytes(allowed));
}

}  // namespace

std::uint64_t Allowance::of(std::uint64_t stored_bytes) const {
  std::uint64_t earned = 0;
  std::uint64_t sum = 0;
  const bool too_large =
      __builtin_mul_overflow(stored_bytes, per_stored_byte, &earned) || __builtin_add_overflow(base, earned, &sum);
  return too_large ? std::numeric_limits<std::uint64_t>::max() : sum;
}

Result<ReadLimits> scaled_read_limits(std::string_view text) {
  const std::optional<double> factor = parse_double(text);
  if (!factor || !(*factor > 0) || *factor > kLargestFactor) {
    return Status(Code::kInvalidArgument, fmt::format("{}: expected a number above 0 and up to {}, found \"{}\"",
                                                      variable::kReadBudget, kLargestFactor, printable(text)));
  }
  ReadLimits limits;
  limits.held_bytes = times(limits.held_bytes, *factor);
  limits.whole_bytes = times(limits.whole_bytes, *factor);
  limits.scanned_bytes = times(limits.scanned_bytes, *factor);
  limits.pattern_searches = times(limits.pattern_searches, *factor);
  limits.pattern_cpu_ns = times(limits.pattern_cpu_ns, *factor);
  limits.json_values = times(limits.json_values, *factor);
  return limits;
}

const ReadLimits& read_limits() {
  static const ReadLimits limits = limits_of_environment();
  return limits;
}

Status over_read_budget(std::string_view what, std::string_view found, std::string_view allowed) {
  return Status(
      Code::kResourceExhausted,
      fmt::format("over the budget for reading a run: {}: {} found, {} allowed; if you trust the run, set {}=4 "
                  "to allow four times as much",
                  what, found, allowed, variable::kReadBudget));
}

Status ReadBudget::hold(std::uint64_t bytes, std::string_view what) {
  const std::uint64_t allowed = limits_.held_bytes.of(stored_bytes_);
  if (held_bytes_ > allowed || bytes > allowed - held_bytes_) return over_bytes(what, held_bytes_ + bytes, allowed);
  held_bytes_ += bytes;
  return {};
}

Status ReadBudget::scan(std::uint64_t bytes, std::string_view what) {
  const std::uint64_t allowed = limits_.scanned_bytes.of(stored_bytes_);
  if (scanned_bytes_ > allowed || bytes > allowed - scanned_bytes_) {
    return over_bytes(what, scanned_bytes_ + bytes, allowed);
  }
  scanned_bytes_ += bytes;
  return {};
}

Status ReadBudget::check_whole(std::uint64_t bytes, std::uint64_t stored_bytes, std::string_view what) const {
  const std::uint64_t allowed = limits_.whole_bytes.of(stored_bytes);
  return bytes <= allowed ? Status() : over_bytes(what, bytes, allowed);
}

Status ReadBudget::search_patterns(std::uint64_t count, std::string_view what) {
  const std::uint64_t allowed = limits_.pattern_searches;
  if (pattern_searches_ > allowed || count > allowed - pattern_searches_) {
    return over_read_budget(what, fmt::format("{} searches", pattern_searches_ + count), fmt::format("{}", allowed));
  }
  pattern_searches_ += count;
  return {};
}

Status ReadBudget::search_patterns_for(std::uint64_t cpu_ns, std::string_view what) {
  pattern_cpu_ns_ += cpu_ns;
  if (pattern_cpu_ns_ <= limits_.pattern_cpu_ns) return {};
  return over_read_budget(what, format_duration_ns(static_cast<std::int64_t>(pattern_cpu_ns_)),
                          format_duration_ns(static_cast<std::int64_t>(limits_.pattern_cpu_ns)));
}

}  // namespace trainwarden
