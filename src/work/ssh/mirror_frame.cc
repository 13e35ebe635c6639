#include "work/ssh/mirror_frame.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/json.h"

namespace trainwarden::ssh {
namespace {

constexpr std::size_t kMaxHeadBytes = std::size_t{8} << 10;
constexpr std::size_t kMaxGreetingBytes = std::size_t{64} << 10;
constexpr std::array<const char*, 4> kKinds = {"file", "beat", "end", "error"};

Result<MirrorFrame> decode_head(std::string_view line) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(line, "the host's answer"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string kind, format::string_field(json, "kind"));
  const auto* const known = std::find(kKinds.begin(), kKinds.end(), kind);
  if (known == kKinds.end()) return Status(Code::kDataLoss, fmt::format("unknown frame \"{}\"", printable(kind)));
  MirrorFrame frame;
  frame.kind = static_cast<MirrorFrame::Kind>(known - kKinds.begin());
  TRAINWARDEN_ASSIGN_OR_RETURN(frame.path, format::string_field(json, "path"));
  TRAINWARDEN_ASSIGN_OR_RETURN(frame.offset, format::uint_field(json, "offset"));
  TRAINWARDEN_ASSIGN_OR_RETURN(frame.time_unix_ns, format::int_field(json, "time", 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(frame.last, format::bool_field(json, "last"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t bytes, format::uint_field(json, "bytes", kMaxFrameBytes));
  frame.bytes.resize(bytes);
  return frame;
}

}  // namespace

std::string encode_frame(const MirrorFrame& frame) {
  return format::dump_json({{"kind", kKinds.at(static_cast<std::size_t>(frame.kind))},
                            {"path", frame.path},
                            {"offset", frame.offset},
                            {"time", frame.time_unix_ns},
                            {"last", frame.last},
                            {"bytes", frame.bytes.size()}}) +
         "\n" + frame.bytes;
}

Result<bool> FrameSplitter::skip_greeting() {
  const std::string line = std::string(kMirrorGreeting) + "\n";
  const std::size_t at = text_.find(line);
  if (at != std::string::npos) {
    text_.erase(0, at + line.size());
    return true;
  }
  if (text_.size() < kMaxGreetingBytes) return false;
  return Status(Code::kDataLoss, "something else than trainwarden answers");
}

Result<std::optional<MirrorFrame>> FrameSplitter::next() {
  const std::size_t end = text_.find('\n');
  if (end == std::string::npos && text_.size() <= kMaxHeadBytes) return std::optional<MirrorFrame>();
  if (end == std::string::npos || end > kMaxHeadBytes) return Status(Code::kDataLoss, "no frame, but a long line");
  TRAINWARDEN_ASSIGN_OR_RETURN(MirrorFrame frame, decode_head(std::string_view(text_).substr(0, end)));
  if (text_.size() - end - 1 < frame.bytes.size()) return std::optional<MirrorFrame>();
  frame.bytes = text_.substr(end + 1, frame.bytes.size());
  text_.erase(0, end + 1 + frame.bytes.size());
  return std::optional<MirrorFrame>(std::move(frame));
}

}  // namespace trainwarden::ssh
