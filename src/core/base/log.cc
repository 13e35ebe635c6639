#include "core/base/log.h"

#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "core/base/program_variables.h"
#include "core/base/text.h"

namespace trainwarden {
namespace {

constexpr std::uint64_t kShownRepeats = 3;
constexpr std::size_t kRememberedLines = 256;  // bounds the memory; past it the counting starts again

std::string_view name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
    case LogLevel::kOff: return "off";
  }
  return "unknown level";
}

void write_to_stderr(LogLevel level, std::string_view message) {
  const std::string line = fmt::format("trainwarden: {}: {}\n", name(level), printable(message));
  std::fwrite(line.data(), 1, line.size(), stderr);
}

bool is_power_of_ten(std::uint64_t value) {
  while (value >= 10 && value % 10 == 0) value /= 10;
  return value == 1;
}

class Log {
 public:
  // Never destroyed: destructors of other static objects may log.
  static Log& instance() {
    static Log& log = *new Log;
    return log;
  }

  void add(LogLevel level, std::string_view message) {
    const bool fatal = strict_ && level == LogLevel::kError;
    if (level < shown_from_ && !fatal) return;
    {
      std::lock_guard lock(mutex_);
      add_locked(level, message);
    }
    if (fatal) std::abort();
  }

  void set_sink(std::function<void(LogLevel, std::string_view)> sink) {
    std::lock_guard lock(mutex_);
    sink_ = std::move(sink);
    counts_.clear();
  }

 private:
  Log() {
    if (const char* strict = std::getenv(variable::kStrict)) strict_ = parse_bool(strict).value_or(false);
    if (!take_level(variable::kLogLevel)) take_level("SMDEBUG_LOG_LEVEL");
    // A fork while another thread logs must not leave the child with a mutex that nobody will unlock.
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] { instance().mutex_.unlock(); });
  }

  // False when the variable is not set.
  bool take_level(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return false;
    if (const auto level = parse_log_level(text)) {
      shown_from_ = *level;
    } else {
      write_to_stderr(LogLevel::kWarning, fmt::format("{}={} is none of debug, info, warning, error "
                                                      "and off; showing warnings and errors",
                                                      variable, text));
    }
    return true;
  }

  void add_locked(LogLevel level, std::string_view message) {
    if (counts_.size() >= kRememberedLines) counts_.clear();
    const std::uint64_t count = ++counts_[std::string(message)];
    if (count <= kShownRepeats) {
      show(level, message);
    } else if (is_power_of_ten(count)) {
      show(level, fmt::format("{} ({} times so far)", message, count));
    }
  }

  void show(LogLevel level, std::string_view message) const {
    if (sink_) {
      sink_(level, message);
    } else {
      write_to_stderr(level, message);
    }
  }

  LogLevel shown_from_ = LogLevel::kWarning;
  bool strict_ = false;
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> counts_;
  std::function<void(LogLevel, std::string_view)> sink_;
};

}  // namespace

std::optional<LogLevel> parse_log_level(std::string_view text) {
  const std::string wanted = lower(trim(text));
  if (wanted == "critical") return LogLevel::kError;  // smdebug's word; nothing here is more than an error
  for (const LogLevel level :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError, LogLevel::kOff}) {
    if (name(level) == wanted) return level;
  }
  return std::nullopt;
}

void log(LogLevel level, std::string_view message) noexcept {
  try {
    Log::instance().add(level, message);
  } catch (...) {
    // Out of memory for a log line: the line is lost, the training is not.
  }
}

void set_log_sink(std::function<void(LogLevel, std::string_view)> sink) {
  Log::instance().set_sink(std::move(sink));
}

}  // namespace trainwarden
