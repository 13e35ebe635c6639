#include "work/ssh/follower.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/process/child.h"
#include "core/process/descriptors.h"
#include "core/process/output_tail.h"
#include "store/storage/lease.h"
#include "work/ssh/mirror_frame.h"
#include "work/ssh/mirror_receiver.h"
#include "work/ssh/ssh_target.h"

namespace trainwarden::ssh {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{500};
constexpr milliseconds kFirstPause{1000};
constexpr std::chrono::seconds kSilence{60};     // the host beats every five
constexpr std::chrono::seconds kSubmission{60};  // after it a job that is not there does not come
constexpr std::size_t kMaxErrorBytes = 4096;
constexpr std::size_t kReadBytes = std::size_t{64} << 10;

// One connection. Its ssh is ended with it.
class Session {
 public:
  static Result<Session> open(const SshTarget& target, const std::string& job) {
    TRAINWARDEN_ASSIGN_OR_RETURN(process::Pipe in, process::open_pipe());
    TRAINWARDEN_ASSIGN_OR_RETURN(process::Pipe out, process::open_pipe());
    TRAINWARDEN_ASSIGN_OR_RETURN(process::Pipe err, process::open_pipe());
    process::Program program;
    program.command = ssh_command(target.host, mirror_script(target, job));
    program.descriptors = {
        {STDIN_FILENO, in.reading.get()}, {STDOUT_FILENO, out.writing.get()}, {STDERR_FILENO, err.writing.get()}};
    ::fcntl(in.reading.get(), F_SETFL, 0);  // ssh's end waits, as programs expect it
    program.signals = process::SignalStart::all_default();
    program.own_group = true;
    program.ends_with_us = true;
    TRAINWARDEN_ASSIGN_OR_RETURN(process::Child child, process::Child::start(program));
    return Session(std::move(child), std::move(in.writing), std::move(out.reading), std::move(err.reading));
  }
  Session(Session&&) = default;
  Session& operator=(Session&&) = delete;
  ~Session() {
    if (!child_.reaped()) child_.kill_group();
  }

  Status send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(to_host_.get(), text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return {Code::kUnavailable, why_it_ended()};
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return Status();
  }

  // What has come within a look; empty when nothing has. kUnavailable when nothing more can come.
  Result<std::string> read() {
    std::array<pollfd, 2> events{pollfd{from_host_.get(), POLLIN, 0}, pollfd{errors_.number(), POLLIN, 0}};
    ::poll(events.data(), events.size(), static_cast<int>(kLook.count()));
    errors_.read();
    std::string text(kReadBytes, '\0');
    const ssize_t bytes = ::read(from_host_.get(), text.data(), text.size());
    if (bytes == 0) return Status(Code::kUnavailable, why_it_ended());
    text.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
    return text;
  }

 private:
  Session(process::Child child, FileDescriptor to_host, FileDescriptor from_host, FileDescriptor errors)
      : child_(std::move(child)),
        to_host_(std::move(to_host)),
        from_host_(std::move(from_host)),
        errors_(std::move(errors), kMaxErrorBytes) {}

  std::string why_it_ended() {
    child_.wait_for(std::chrono::seconds(1));
    errors_.read();
    return last_words(errors_.text());
  }

  process::Child child_;
  FileDescriptor to_host_;
  FileDescriptor from_host_;
  process::OutputTail errors_;
};

enum class Outcome { kEnded, kLost, kAsked };

class Follower {
 public:
  Follower(jobs::JobRecord& job, SshTarget target, const Clock& clock, const FollowerSurroundings& surroundings,
           storage::Lease& lease)
      : job_(job), target_(std::move(target)), clock_(clock), around_(surroundings), lease_(lease) {}

  Status run() {
    while (job_.place().storage().exists(jobs::kOrderFile)) {
      const Result<Outcome> outcome = session();
      if (outcome.ok() && *outcome != Outcome::kLost) return Status();
      if (!outcome.ok()) note_lost(outcome.status());
      if (!pause()) return Status();
    }
    return Status();
  }

 private:
  // Errors are of this connection: another one may be better.
  Result<Outcome> session() {
    keeps_ = true;
    TRAINWARDEN_ASSIGN_OR_RETURN(Session session, Session::open(target_, job_.order().name));
    MirrorReceiver receiver(job_);
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string known, receiver.known());
    TRAINWARDEN_RETURN_IF_ERROR(session.send(known));
    FrameSplitter frames;
    bool greeted = false;
    auto heard = steady_clock::now();
    while (steady_clock::now() - heard < kSilence) {
      if (!around_.pause(milliseconds(0))) return Outcome::kAsked;
      beat();
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, session.read());
      if (text.empty()) continue;
      heard = steady_clock::now();
      frames.add(text);
      if (!greeted) {
        TRAINWARDEN_ASSIGN_OR_RETURN(greeted, frames.skip_greeting());
        if (!greeted) continue;
      }
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<Outcome> outcome, take(frames, receiver));
      if (outcome) return *outcome;
    }
    return Status(Code::kUnavailable, "it has been silent for a minute");
  }

  // All whole frames that are there; an outcome when nothing more is to come.
  Result<std::optional<Outcome>> take(FrameSplitter& frames, MirrorReceiver& receiver) {
    for (;;) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<MirrorFrame> frame, frames.next());
      if (!frame) return std::optional<Outcome>();
      if (frame->kind == MirrorFrame::Kind::kError) return not_there(frame->bytes);
      TRAINWARDEN_RETURN_IF_ERROR(note_reached());
      if (frame->kind == MirrorFrame::Kind::kEnd) return std::optional<Outcome>(Outcome::kEnded);
      const Status kept = frame->kind == MirrorFrame::Kind::kFile ? receiver.receive(*frame) : Status();
      keeps_ = kept.ok();
      TRAINWARDEN_RETURN_IF_ERROR(kept);
    }
  }

  // It was removed there, or has never got there.
  Result<std::optional<Outcome>> not_there(const std::string& words) {
    if (!missing_since_) missing_since_ = steady_clock::now();
    const bool may_come = !is_submitted(job_.place()) &&
                          (is_being_submitted(job_, clock_) || steady_clock::now() - *missing_since_ < kSubmission);
    if (may_come) return Status(Code::kUnavailable, words);
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, job_.current());
    if (!jobs::is_terminal(now.status)) {
      const std::string message =
          fmt::format("InternalServerError: it is not on {}: {}", to_string(target_.host), words);
      TRAINWARDEN_RETURN_IF_ERROR(job_.advance(now, jobs::JobPhase::kFailed, "ssh", message, clock_).status());
    }
    return std::optional<Outcome>(Outcome::kEnded);
  }

  Status note_reached() {
    if (state_ == Connection::State::kStands) return Status();
    state_ = Connection::State::kStands;
    pause_ = kFirstPause;
    TRAINWARDEN_RETURN_IF_ERROR(write_submitted(job_.place()));
    return write_connection(job_.place(), {*state_, clock_.unix_ns(), ""});
  }

  void note_lost(const Status& why) {
    const auto state = keeps_ ? Connection::State::kUnreachable : Connection::State::kNotKept;
    if (state_ != state) since_ = clock_.unix_ns();
    state_ = state;
    const std::string& words = why.message();
    log(LogLevel::kWarning, "job {}: {}", job_.order().name, words);
    if (!job_.place().storage().exists(jobs::kOrderFile)) return;  // it was removed
    const Status written = write_connection(job_.place(), {state, since_, words});
    if (!written.ok()) log(LogLevel::kWarning, "{}", written.message());
  }

  void beat() {
    const Status renewed = lease_.beat();
    if (!renewed.ok()) log(LogLevel::kWarning, "cannot renew the lease of the follower: {}", renewed.message());
  }

  // False when this process is to end.
  bool pause() {
    const auto end = steady_clock::now() + pause_;
    pause_ = std::min(pause_ * 2, around_.longest_pause);
    while (steady_clock::now() < end) {
      beat();
      if (!around_.pause(kLook)) return false;
    }
    return true;
  }

  jobs::JobRecord& job_;
  const SshTarget target_;
  const Clock& clock_;
  const FollowerSurroundings& around_;
  storage::Lease& lease_;
  std::optional<Connection::State> state_;  // nothing: nobody has tried yet
  bool keeps_ = true;                       // what has come could be written
  std::int64_t since_ = 0;
  std::optional<steady_clock::time_point> missing_since_;  // the host has said first that it has no such job
  milliseconds pause_ = kFirstPause;
};

}  // namespace

Status follow(jobs::JobRecord& job, const Clock& clock, const FollowerSurroundings& surroundings) {
  TRAINWARDEN_ASSIGN_OR_RETURN(SshTarget target, read_target(job.place()));
  Result<std::unique_ptr<storage::Lease>> lease = storage::take_lease(job.place().storage(), kFollowerLease, clock);
  if (lease.status().code() == Code::kAlreadyExists) return Status();
  TRAINWARDEN_RETURN_IF_ERROR(lease.status());
  TRAINWARDEN_RETURN_IF_ERROR(Follower(job, std::move(target), clock, surroundings, **lease).run());
  return job.place().storage().exists(jobs::kOrderFile) ? (*lease)->end() : Status();
}

}  // namespace trainwarden::ssh
