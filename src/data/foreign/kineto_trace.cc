#include "data/foreign/kineto_trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"

namespace trainwarden::foreign {
namespace {

constexpr std::int64_t kMostMicros = 9'000'000'000'000'000;  // in nanoseconds they still fit

// "88437691101.719" microseconds as nanoseconds, exactly, where a double would round them. None: no such time.
std::optional<std::int64_t> nanoseconds(std::string_view micros) {
  const bool negative = micros.starts_with('-');
  if (negative) micros.remove_prefix(1);
  const std::size_t point = micros.find('.');
  std::int64_t whole = 0;
  const std::string_view integer = micros.substr(0, point);
  const auto [end, error] = std::from_chars(integer.data(), integer.data() + integer.size(), whole);
  std::int64_t ns = 0;
  if (error == std::errc() && end == integer.data() + integer.size() && micros.find_first_of("eE") == micros.npos) {
    if (whole > kMostMicros) return std::nullopt;
    ns = whole * 1000;
    std::int64_t digit = 100;
    for (std::size_t at = point; at != micros.npos && ++at < micros.size() && digit > 0; digit /= 10) {
      ns += (micros[at] - '0') * digit;
    }
  } else {
    const double value = std::strtod(std::string(micros).c_str(), nullptr);
    if (!(std::abs(value) <= static_cast<double>(kMostMicros))) return std::nullopt;
    ns = std::llround(value * 1000);
  }
  return negative ? -ns : ns;
}

// The text as the parser takes it: one character after the other.
class TextReader {
 public:
  explicit TextReader(const TextSource& source) : source_(source) {}

  // Between two calls of next_token() there is one name, text or number.
  void next_token() { token_bytes_ = 0; }
  const Status& status() const { return status_; }
  void fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  // -1 at the end.
  int take() {
    if (at_ == size_ && !refill()) return -1;
    if (++token_bytes_ > kMaxKinetoTokenBytes) {
      fail(Status(Code::kDataLoss, fmt::format("a name or text of more than {} bytes", kMaxKinetoTokenBytes)));
      return -1;
    }
    return static_cast<unsigned char>(buffer_[at_++]);
  }

 private:
  bool refill() {
    if (!status_.ok()) return false;
    const Result<std::size_t> read = source_(buffer_);
    if (!read.ok()) {
      status_ = read.status();
      return false;
    }
    at_ = 0;
    size_ = *read;
    return size_ > 0;
  }

  const TextSource& source_;
  Status status_;
  std::array<char, 65536> buffer_{};
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::size_t token_bytes_ = 0;
};

// For nlohmann::json::sax_parse: an input iterator over a TextReader.
class TextIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  TextIterator() = default;  // the end
  explicit TextIterator(TextReader& reader) : reader_(&reader), current_(reader.take()) {}
  char operator*() const { return static_cast<char>(current_); }
  TextIterator& operator++() {
    current_ = reader_->take();
    return *this;
  }
  bool operator==(const TextIterator& other) const { return current_ == other.current_; }
  bool operator!=(const TextIterator& other) const { return !(*this == other); }

 private:
  TextReader* reader_ = nullptr;
  int current_ = -1;
};

// What the parser calls. Where it is in the document is known by its depth and the last names.
class TraceHandler {
 public:
  TraceHandler(TextReader& text, const KinetoSink& sink) : text_(text), sink_(sink) {}

  const KinetoTrace& trace() const { return trace_; }
  bool saw_events() const { return saw_events_; }

  bool null() { return value(); }
  bool boolean(bool) { return value(); }
  bool number_integer(std::int64_t number) { return integer(number); }
  bool number_unsigned(std::uint64_t number) {
    return integer(static_cast<std::int64_t>(std::min<std::uint64_t>(number, INT64_MAX)));
  }
  bool number_float(double number, const std::string& text) {
    if (is_in_event() && key_ == "ts") set_time(event_.start_ns, nanoseconds(text));
    if (is_in_event() && key_ == "dur") set_time(event_.duration_ns, nanoseconds(text));
    if (is_in_arguments() && std::abs(number) < 9e18) set_argument(static_cast<std::int64_t>(number));
    return value();
  }
  bool string(std::string& text) {
    if (is_in_event()) set_text(text);
    // Old versions write numbers of arguments as texts.
    if (is_in_arguments()) {
      if (const auto number = parse_int(text)) set_argument(*number);
    }
    return value();
  }
  bool binary(nlohmann::json::binary_t&) { return value(); }

  bool start_object(std::size_t) {
    ++depth_;
    if (depth_ == event_depth_) event_ = KinetoEvent(), phase_ = '\0', is_timed_ = false;
    if (depth_ == event_depth_ + 1 && event_depth_ > 0) in_arguments_ = key_ == "args";
    if (depth_ == 2 && event_depth_ == 0) in_distributed_ = key_ == "distributedInfo";
    return value();
  }
  bool end_object() {
    const bool fine = depth_ != event_depth_ || pass_on();
    --depth_;
    if (depth_ <= event_depth_) in_arguments_ = false;
    if (depth_ < 2) in_distributed_ = false;
    return value() && fine;
  }
  bool start_array(std::size_t) {
    ++depth_;
    const bool are_events = depth_ == 1 || (depth_ == 2 && key_ == "traceEvents");
    if (are_events && event_depth_ == 0) {
      event_depth_ = depth_ + 1;
      saw_events_ = true;
    }
    return value();
  }
  bool end_array() {
    if (depth_ + 1 == event_depth_) event_depth_ = 0;
    --depth_;
    return value();
  }
  bool key(std::string& name) {
    key_ = name;
    return value();
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) {
    text_.fail(Status(Code::kDataLoss, fmt::format("no trace of PyTorch's profiler: at byte {}: {}", position,
                                                   printable(std::string_view(error.what()).substr(0, 200)))));
    return false;
  }

 private:
  bool value() {
    text_.next_token();
    return true;
  }
  bool is_in_event() const { return event_depth_ > 0 && depth_ == event_depth_; }
  bool is_in_arguments() const { return in_arguments_ && depth_ == event_depth_ + 1; }

  void set_time(std::int64_t& place, std::optional<std::int64_t> ns) {
    if (!ns) return;
    place = *ns;
    is_timed_ = is_timed_ || &place == &event_.start_ns;
  }

  bool integer(std::int64_t number) {
    if (is_in_event()) {
      if (key_ == "ts") set_time(event_.start_ns, nanoseconds(std::to_string(number)));
      if (key_ == "dur") set_time(event_.duration_ns, nanoseconds(std::to_string(number)));
      if (key_ == "pid") event_.process = std::to_string(number);
      if (key_ == "tid") event_.thread = std::to_string(number);
    } else if (is_in_arguments()) {
      set_argument(number);
    } else if (depth_ == 1 && key_ == "baseTimeNanoseconds") {
      trace_.base_ns = number;
    } else if (in_distributed_ && depth_ == 2) {
      if (key_ == "rank") trace_.rank = number;
      if (key_ == "world_size") trace_.world_size = number;
    }
    return value();
  }

  void set_text(std::string& text) {
    if (key_ == "ph") phase_ = text.size() == 1 ? text[0] : '\0';
    if (key_ == "cat")
      event_.category = std::move(text);
    else if (key_ == "name")
      event_.name = std::move(text);
    else if (key_ == "pid")
      event_.process = std::move(text);
    else if (key_ == "tid")
      event_.thread = std::move(text);
  }

  void set_argument(std::int64_t number) {
    const std::pair<std::string_view, std::optional<std::int64_t>*> places[] = {
        {"Sequence number", &event_.sequence}, {"stream", &event_.stream}, {"device", &event_.device},
        {"Device Id", &event_.device},         {"Bytes", &event_.bytes},   {"Total Allocated", &event_.total_allocated},
        {"Device Type", &event_.device_type}};
    for (const auto& [name, place] : places) {
      if (key_ == name) *place = number;
    }
  }

  bool pass_on() {
    event_.is_instant = phase_ == 'i' || phase_ == 'I';
    if ((phase_ != 'X' && !event_.is_instant) || !is_timed_) return true;
    event_.duration_ns = std::max<std::int64_t>(event_.duration_ns, 0);
    ++trace_.events;
    const Status status = sink_(event_);
    if (!status.ok()) text_.fail(status);
    return status.ok();
  }

  TextReader& text_;
  const KinetoSink& sink_;
  KinetoTrace trace_;
  KinetoEvent event_;
  std::string key_;
  char phase_ = '\0';
  bool is_timed_ = false;
  bool saw_events_ = false;
  bool in_arguments_ = false;
  bool in_distributed_ = false;
  std::size_t depth_ = 0;        // of what is open
  std::size_t event_depth_ = 0;  // of an event; 0: not among them
};

}  // namespace

Result<KinetoTrace> read_kineto_trace(const TextSource& source, const KinetoSink& sink) {
  TextReader text(source);
  TraceHandler handler(text, sink);
  const bool parsed = nlohmann::json::sax_parse(TextIterator(text), TextIterator(), &handler);
  if (!text.status().ok()) return text.status();
  if (!parsed || !handler.saw_events()) {
    return Status(Code::kDataLoss, "no trace of PyTorch's profiler: it has no traceEvents");
  }
  return handler.trace();
}

}  // namespace trainwarden::foreign
