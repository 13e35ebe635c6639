#include "work/ssh/mirror_server.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "core/base/text.h"
#include "work/ssh/mirror_frame.h"
#include "work/ssh/mirror_sender.h"

namespace trainwarden::ssh {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSendInterval{400};
constexpr std::chrono::seconds kJobInterval{2};
constexpr std::chrono::seconds kBeatInterval{5};
constexpr std::size_t kServedBytes = std::size_t{64} << 10;

Status lost(const char* what) {
  return {Code::kUnavailable, fmt::format("{}: {}", what, std::strerror(errno))};
}

Status write_text(int output, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(output, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return lost("the connection is gone");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return Status();
}

// What there is now, or later when there is nothing; empty at the end.
Result<std::string> read_some(int input) {
  std::string text(kServedBytes, '\0');
  for (;;) {
    const ssize_t bytes = ::read(input, text.data(), text.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return lost("the connection is gone");
    text.resize(static_cast<std::size_t>(bytes));
    return text;
  }
}

// Until the other end has told all that it has.
Status read_known(int input, const std::function<void(const MirrorFrame&)>& note) {
  FrameSplitter frames;
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<MirrorFrame> frame, frames.next());
    if (frame && frame->kind == MirrorFrame::Kind::kEnd) return Status();
    if (frame) {
      note(*frame);
      continue;
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, read_some(input));
    if (text.empty()) return Status(Code::kUnavailable, "the connection ended before it had begun");
    frames.add(text);
  }
}

// True when the other end is gone.
bool await_end_of(int input, std::chrono::milliseconds time) {
  pollfd event{input, POLLIN, 0};
  if (::poll(&event, 1, static_cast<int>(time.count())) <= 0) return false;
  const Result<std::string> text = read_some(input);  // nothing is expected
  return !text.ok() || text->empty();
}

}  // namespace

Result<jobs::JobRecord> find_sent_job(const storage::Location& jobs, const std::string& name, const std::string& id) {
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobRecord job, jobs::JobRecord::open(jobs, name));
  const std::filesystem::path spec_file = std::filesystem::path(job.order().spec_file).lexically_normal();
  if (spec_file.parent_path().filename() == id) return job;
  return Status(Code::kNotFound, fmt::format("the job \"{}\" there is another one", name));
}

Status serve_mirror(const Result<jobs::JobRecord>& job, int input, int output, const std::function<void()>& look) {
  const auto send = [output](const MirrorFrame& frame) { return write_text(output, encode_frame(frame)); };
  std::optional<MirrorSender> sender;
  if (job.ok()) sender.emplace(*job, send);
  TRAINWARDEN_RETURN_IF_ERROR(read_known(input, [&](const MirrorFrame& frame) {
    if (sender) sender->note_known(frame);
  }));
  TRAINWARDEN_RETURN_IF_ERROR(write_text(output, std::string(kMirrorGreeting) + "\n"));
  if (!sender) return send({MirrorFrame::Kind::kError, "", 0, 0, true, job.status().message()});
  steady_clock::time_point look_at;
  steady_clock::time_point beat_at;
  do {
    const auto now = steady_clock::now();
    if (now >= look_at) {
      look();
      look_at = now + kJobInterval;
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool ended, sender->send_new());
    if (ended) return send({MirrorFrame::Kind::kEnd, "", 0, 0, true, ""});
    if (now >= beat_at) {
      TRAINWARDEN_RETURN_IF_ERROR(send({MirrorFrame::Kind::kBeat, "", 0, 0, true, ""}));
      beat_at = now + kBeatInterval;
    }
  } while (!await_end_of(input, kSendInterval));
  return Status();
}

}  // namespace trainwarden::ssh
