#include "data/foreign/trace_events.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include <simdjson.h>

#include "core/base/text.h"

namespace trainwarden::foreign {
namespace {

using simdjson::dom::element;

constexpr std::size_t kMaxObjectBytes = 64 << 10;
constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxNames = 1 << 16;
constexpr std::size_t kMaxNameBytes = 4096;
constexpr std::size_t kMaxThreads = 1 << 16;
constexpr std::size_t kMaxOpen = 1 << 16;  // beginnings that wait for their end
constexpr double kMaxMicroseconds = 4e15;  // the year 2096; twice that fits as nanoseconds
constexpr std::string_view kOther = "(other)";

// Finds one object after the other in text that may be broken anywhere.
class ObjectScanner {
 public:
  explicit ObjectScanner(std::string_view text) : text_(text) {}

  // Empty at the end.
  std::string_view next() {
    while (true) {
      at_ = text_.find('{', at_);
      if (at_ == std::string_view::npos) return {};
      const std::size_t end = end_of_object(at_);
      if (end > at_) {
        const std::string_view object = text_.substr(at_, end - at_);
        at_ = end;
        return object;
      }
      if (at_ >= broken_to_) ++broken_;
      broken_to_ = std::max(broken_to_, stopped_);
      ++at_;
    }
  }
  std::uint64_t broken() const { return broken_; }

 private:
  // One behind its last brace; `from` when there is none. Strings of JSON have no line feeds, and braces are few: so
  // each byte is looked at a bounded number of times, however broken the text is.
  std::size_t end_of_object(std::size_t from) {
    const std::size_t limit = std::min(text_.size(), from + kMaxObjectBytes);
    bool in_string = false;
    int depth = 0;
    for (stopped_ = from; stopped_ < limit; ++stopped_) {
      const char one = text_[stopped_];
      if (in_string) {
        if (one == '\n') return from;
        if (one == '\\') {
          ++stopped_;
        } else if (one == '"') {
          in_string = false;
        }
        continue;
      }
      if (one == '"') in_string = true;
      if (one == '{' && ++depth > kMaxDepth) return from;
      if (one == '}' && --depth == 0) return stopped_ + 1;
    }
    return from;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::size_t stopped_ = 0;
  std::size_t broken_to_ = 0;
  std::uint64_t broken_ = 0;
};

// Each text once, with its number.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string>& texts) : texts_(texts) {}
  std::uint32_t number_of(std::string_view text) {
    text = text.substr(0, kMaxNameBytes);
    if (const auto known = numbers_.find(std::string(text)); known != numbers_.end()) return known->second;
    if (texts_.size() + 1 >= kMaxNames && text != kOther) return number_of(kOther);
    texts_.push_back(with_valid_utf8(text));
    return numbers_[std::string(text)] = static_cast<std::uint32_t>(texts_.size() - 1);
  }

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

std::optional<double> number_in(const element& object, const char* field) {
  double number = 0;
  if (object[field].get(number) != simdjson::SUCCESS || !(std::abs(number) <= kMaxMicroseconds)) return std::nullopt;
  return number;
}

// A number, or one as a text.
std::optional<std::int64_t> integer_in(const element& object, const char* field) {
  std::int64_t number = 0;
  if (object[field].get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (object[field].get(text) == simdjson::SUCCESS) return parse_int(text);
  if (const auto real = number_in(object, field)) return static_cast<std::int64_t>(*real);
  return std::nullopt;
}

std::string_view text_in(const element& object, const char* field) {
  std::string_view text;
  return object[field].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

// Not by way of a product: 53 bits hold microseconds since 1970, and not nanoseconds.
std::int64_t nanoseconds(double microseconds) {
  constexpr std::int64_t kNs = 1000;
  const double whole = std::floor(microseconds);
  return static_cast<std::int64_t>(whole) * kNs + std::llround((microseconds - whole) * kNs);
}

class TraceReading {
 public:
  explicit TraceReading(std::size_t most_events)
      : most_events_(most_events), names_(trace_.names), processes_(trace_.processes) {}

  void take(const element& object) {
    const std::string_view kind = text_in(object, "ph");
    if (kind == "M") {
      take_name(object);
    } else if (kind == "X" || kind == "i" || kind == "I") {
      take_event(object, kind != "X");
    } else if (kind == "B") {
      take_begin(object);
    } else if (kind == "E") {
      take_end(object);
    }
  }
  void damaged(std::uint64_t count = 1) { trace_.damaged += count; }

  Trace finish() {
    trace_.unpaired += open_count_;
    return std::move(trace_);
  }

 private:
  void take_name(const element& object) {
    element args;
    if (object["args"].get(args) != simdjson::SUCCESS) return;
    if (const auto start = number_in(args, "start_time_since_epoch_in_micros"); start && *start >= 0) {
      trace_.start_unix_us = static_cast<std::int64_t>(*start);
    }
    const std::string_view what = text_in(object, "name");
    std::string_view name;
    if (args["name"].get(name) != simdjson::SUCCESS) return;
    const std::int64_t pid = integer_in(object, "pid").value_or(0);
    if (what == "process_name" && (by_pid_.contains(pid) || by_pid_.size() < kMaxNames)) {
      by_pid_[pid] = processes_.number_of(name);
    } else if (what == "thread_name" && trace_.threads.size() < kMaxThreads) {
      trace_.threads[{process_of(pid), integer_in(object, "tid").value_or(0)}] =
          with_valid_utf8(name.substr(0, kMaxNameBytes));
    }
  }

  std::uint32_t process_of(std::int64_t pid) {
    const auto known = by_pid_.find(pid);
    return known == by_pid_.end() ? processes_.number_of("Unknown") : known->second;
  }

  // Without name and duration.
  std::optional<TraceEvent> place_of(const element& object) {
    const auto start = number_in(object, "ts");
    if (!start) return std::nullopt;
    TraceEvent event;
    event.start_ns = nanoseconds(static_cast<double>(trace_.start_unix_us)) + nanoseconds(*start);
    event.process = process_of(integer_in(object, "pid").value_or(0));
    event.thread = integer_in(object, "tid").value_or(0);
    element args;
    if (object["args"].get(args) == simdjson::SUCCESS) event.step = std::max<std::int64_t>(-1, step_in(args));
    return event;
  }
  static std::int64_t step_in(const element& args) { return integer_in(args, "step_num").value_or(-1); }

  void take_event(const element& object, bool instant) {
    auto event = place_of(object);
    const auto duration = instant ? std::optional<double>(0) : number_in(object, "dur");
    if (!event || !duration || *duration < 0) return damaged();
    event->name = names_.number_of(text_in(object, "name"));
    event->duration_ns = nanoseconds(*duration);
    event->instant = instant;
    keep(*event);
  }

  using TrackKey = std::pair<std::int64_t, std::int64_t>;  // pid, tid
  static TrackKey track_of(const element& object) {
    return {integer_in(object, "pid").value_or(0), integer_in(object, "tid").value_or(0)};
  }

  void take_begin(const element& object) {
    auto event = place_of(object);
    if (!event || open_count_ >= kMaxOpen) return damaged();
    event->name = names_.number_of(text_in(object, "name"));
    open_[track_of(object)].push_back(*event);
    ++open_count_;
  }

  // Ends have no name in Horovod's files: the innermost that has begun on the same track is meant.
  void take_end(const element& object) {
    const auto end = place_of(object);
    if (!end) return damaged();
    const auto found = open_.find(track_of(object));
    if (found == open_.end() || found->second.empty()) {
      ++trace_.unpaired;
      return;
    }
    TraceEvent event = found->second.back();
    found->second.pop_back();
    --open_count_;
    if (end->start_ns < event.start_ns) return damaged();
    event.duration_ns = end->start_ns - event.start_ns;
    if (event.step < 0) event.step = end->step;
    keep(event);
  }

  void keep(const TraceEvent& event) {
    if (trace_.events.size() < most_events_) {
      trace_.events.push_back(event);
    } else {
      ++trace_.left_out;
    }
  }

  Trace trace_;
  const std::size_t most_events_;
  TextTable names_;
  TextTable processes_;
  std::unordered_map<std::int64_t, std::uint32_t> by_pid_;
  std::map<TrackKey, std::vector<TraceEvent>> open_;
  std::size_t open_count_ = 0;
};

// Where the events are: all of an array; of an object what follows "traceEvents".
std::string_view events_of(std::string_view json) {
  const std::size_t first = json.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || json[first] != '{') return json;
  constexpr std::string_view kEvents = "\"traceEvents\"";
  const std::size_t events = json.find(kEvents);
  return events == std::string_view::npos ? json : json.substr(events + kEvents.size());
}

}  // namespace

Trace read_trace(std::string_view json, std::size_t most_events) {
  TraceReading reading(most_events);
  ObjectScanner objects(events_of(json));
  simdjson::dom::parser parser(kMaxObjectBytes);
  for (std::string_view object = objects.next(); !object.empty(); object = objects.next()) {
    element document;
    if (parser.parse(object.data(), object.size()).get(document) == simdjson::SUCCESS) {
      reading.take(document);
    } else {
      reading.damaged();
    }
  }
  reading.damaged(objects.broken());
  return reading.finish();
}

}  // namespace trainwarden::foreign
