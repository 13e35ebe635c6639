// MirrorFrame: what goes over the connection between a job's host and who follows it from here.
//
// A line of JSON each, and behind it as many bytes as it says. Who follows begins with what it has: a frame without
// bytes for each file, then kEnd. The host answers with its greeting, which nothing that a shell prints at its start is
// taken for, and then with what is new, for as long as the connection stands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::ssh {

inline constexpr std::string_view kMirrorGreeting = "trainwarden mirror 1";
inline constexpr std::size_t kMaxFrameBytes = std::size_t{256} << 10;

struct MirrorFrame {
  enum class Kind : std::uint8_t {
    kFile,   // a piece of one
    kBeat,   // the host lives
    kEnd,    // nothing more is to come
    kError,  // nothing more can come: there is no such job, ...
  };
  Kind kind = Kind::kBeat;
  std::string path;               // "job/output.log", "run/journal/..."
  std::uint64_t offset = 0;       // of the bytes in it
  std::int64_t time_unix_ns = 0;  // of its last change
  bool last = false;              // it ends here, as it was looked at
  std::string bytes;              // of the file; of kError the words
  friend bool operator==(const MirrorFrame&, const MirrorFrame&) = default;
};

std::string encode_frame(const MirrorFrame& frame);

// Puts frames together again. One thread at a time.
class FrameSplitter {
 public:
  void add(std::string_view bytes) { text_.append(bytes); }
  // Passes over all before the greeting; true when that was found. kDataLoss when so much comes before it that it is
  // another program that answers.
  Result<bool> skip_greeting();
  // Nothing when more bytes are needed. kDataLoss when it is no frame, or a larger one than there are.
  Result<std::optional<MirrorFrame>> next();

 private:
  std::string text_;
};

}  // namespace trainwarden::ssh
