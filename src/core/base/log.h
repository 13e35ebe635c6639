// Log lines for people, on standard error: "trainwarden: warning: text".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace trainwarden {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

std::optional<LogLevel> parse_log_level(std::string_view text);  // "debug", "info", "warning", "error", "off"

// TRAINWARDEN_LOG_LEVEL, else SMDEBUG_LOG_LEVEL (debug, info, warning, error, off) decides what is shown; else warning.
// A line that repeats is shown three times, then counted: it comes again with its count at the 10th, 100th, ... time.
// Safe from many threads; never throws. With TRAINWARDEN_STRICT=1 an error aborts the process (tests and CI).
// The variables are read once, at the first line.
void log(LogLevel level, std::string_view message) noexcept;

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) noexcept {
  try {
    log(level, std::string_view(fmt::format(format, std::forward<Args>(args)...)));
  } catch (...) {
    log(level, std::string_view("(a log line that could not be formatted)"));
  }
}

// Sends lines to `sink` in place of standard error and forgets which lines repeated; an empty function brings standard
// error back. The sink is called by one thread at a time and must not log. For tests.
void set_log_sink(std::function<void(LogLevel, std::string_view)> sink);

}  // namespace trainwarden
