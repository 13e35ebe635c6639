#include "work/log_metrics/record_splitter.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace trainwarden::log_metrics {
namespace {

constexpr char kEscapeByte = '\x1b';

// The bytes that are more than text, as a table: a log of a gigabyte is searched for them.
constexpr std::array<bool, 256> special_bytes() {
  std::array<bool, 256> special{};
  for (const char byte : {'\n', '\r', '\b', kEscapeByte}) special[static_cast<unsigned char>(byte)] = true;
  return special;
}
constexpr std::array<bool, 256> kSpecial = special_bytes();

std::size_t length_of_text(std::string_view bytes) {
  const auto* special =
      std::find_if(bytes.begin(), bytes.end(), [](char byte) { return kSpecial[static_cast<unsigned char>(byte)]; });
  return static_cast<std::size_t>(special - bytes.begin());
}

bool is_ascii(std::string_view text) {
  unsigned char any = 0;
  for (const char byte : text) any |= static_cast<unsigned char>(byte);
  return any < 0x80;
}

}  // namespace

void RecordSplitter::append(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty()) {
    if (place_ != Place::kText) {
      take_in_escape(bytes.front(), sink);
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t length = length_of_text(bytes);
    keep(bytes.substr(0, length));
    bytes.remove_prefix(length);
    if (bytes.empty()) return;
    take_special(bytes.front(), sink);
    bytes.remove_prefix(1);
  }
}

void RecordSplitter::finish(const Sink& sink) {
  end_record(sink);
  place_ = Place::kText;
}

void RecordSplitter::take_special(char byte, const Sink& sink) {
  if (byte == kEscapeByte) {
    place_ = Place::kEscape;
    return;
  }
  end_record(sink);
  if (byte == '\n') ++line_;
}

// After ESC: "[" begins a control sequence, which its final byte ends; any other byte from "0" on ends the escape
// itself, with what may stand between. A control character within means that the sequence was cut off.
void RecordSplitter::take_in_escape(char byte, const Sink& sink) {
  if (kSpecial[static_cast<unsigned char>(byte)]) {
    place_ = Place::kText;
    take_special(byte, sink);
  } else if (place_ == Place::kEscape && byte == '[') {
    place_ = Place::kControlSequence;
  } else if (byte >= (place_ == Place::kEscape ? '0' : '@')) {
    place_ = Place::kText;
  } else if (static_cast<unsigned char>(byte) >= 0x80) {  // no part of any sequence
    place_ = Place::kText;
    keep({&byte, 1});
  }
}

void RecordSplitter::keep(std::string_view text) {
  const std::size_t room = kMaxRecordBytes - pending_.size();
  cut_ = cut_ || text.size() > room;
  pending_ += text.substr(0, room);
}

void RecordSplitter::end_record(const Sink& sink) {
  if (!pending_.empty()) {
    const std::string valid = is_ascii(pending_) ? "" : with_valid_utf8(pending_);
    sink({valid.empty() ? pending_ : valid, line_, cut_});
  }
  pending_.clear();
  cut_ = false;
}

}  // namespace trainwarden::log_metrics
