// RecordSplitter: the bytes that a program prints become records: what a terminal would have shown as one line, or as
// one state of a progress bar.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace trainwarden::log_metrics {

struct LogRecord {
  std::string_view text;   // UTF-8, without its end and without escape sequences; never empty
  std::uint64_t line = 1;  // where it stands: 1 and the line feeds before it
  bool cut = false;        // it was longer than kMaxRecordBytes; what came after these is not in `text`
};

inline constexpr std::size_t kMaxRecordBytes = std::size_t{64} << 10;

// A record ends at a line feed, at a carriage return (progress bars write their next state over the last), and at a
// backspace (Keras goes back so). Bytes that are no UTF-8 become U+FFFD. Escape sequences of ECMA-48 (colours, moves of
// the cursor) are left out. For one thread; holds one record at most.
class RecordSplitter {
 public:
  // Gets each record while its text is valid: during the call.
  using Sink = std::function<void(const LogRecord&)>;

  void append(std::string_view bytes, const Sink& sink);
  // The bytes have come to their end: what has no end of its own is a record too.
  void finish(const Sink& sink);

 private:
  enum class Place : std::uint8_t { kText, kEscape, kControlSequence };

  void take_special(char byte, const Sink& sink);
  void take_in_escape(char byte, const Sink& sink);
  void keep(std::string_view text);
  void end_record(const Sink& sink);

  std::string pending_;
  std::uint64_t line_ = 1;
  bool cut_ = false;
  Place place_ = Place::kText;
};

}  // namespace trainwarden::log_metrics
