#include "hook/capture/black_box/crash_writer.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "data/format/control_record.h"
#include "store/journal/run_folder.h"

namespace trainwarden::capture {
namespace {

constexpr int kFatalSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM};
constexpr std::size_t kSignalCount = std::size(kFatalSignals);
constexpr std::size_t kStackBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxPathBytes = 4096;
constexpr int kMaxNames = 100;  // at a name that nobody has taken
constexpr std::int64_t kMaxWaitNs = 30'000'000'000;
constexpr timespec kWaitPause{.tv_sec = 0, .tv_nsec = 1'000'000};

std::string_view signal_name(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    case SIGABRT: return "SIGABRT";
    case SIGTERM: return "SIGTERM";
    default: return "a signal";
  }
}

// Text in memory of its own, with a zero behind it; what does not fit is left out and remembered.
class FixedText {
 public:
  FixedText& add(std::string_view text) {
    fits_ = fits_ && size_ + text.size() < bytes_.size();
    if (!fits_) return *this;
    std::copy(text.begin(), text.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += text.size();
    bytes_[size_] = '\0';
    return *this;
  }
  FixedText& add_number(std::int64_t number, int width) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    for (auto length = end - digits.data(); length < width; ++length) add("0");
    return add({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  void cut(std::size_t size) {
    size_ = size;
    bytes_[size_] = '\0';
  }
  std::size_t size() const { return size_; }
  std::string_view text() const { return {bytes_.data(), size_}; }
  const char* c_str() const { return bytes_.data(); }
  bool fits() const { return fits_; }

 private:
  std::array<char, kMaxPathBytes> bytes_{};
  std::size_t size_ = 0;
  bool fits_ = true;
};

// Into a file that is open.
class DescriptorSink final : public ByteSink {
 public:
  void start(int descriptor) {
    descriptor_ = descriptor;
    used_ = 0;
    failed_ = descriptor < 0;
  }
  void put(ByteSpan bytes) noexcept override {
    if (used_ + bytes.size() > gathered_.size()) {
      write_through(ByteSpan(gathered_).first(used_));
      used_ = 0;
      if (bytes.size() > gathered_.size() / 2) return write_through(bytes);
    }
    std::memcpy(gathered_.data() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  bool finish() {
    write_through(ByteSpan(gathered_).first(used_));
    if (descriptor_ >= 0 && ::close(descriptor_) != 0) failed_ = true;
    return !failed_;
  }

 private:
  void write_through(ByteSpan bytes) noexcept {
    while (!failed_ && !bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      failed_ = written <= 0;
      if (!failed_) bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  int descriptor_ = -1;
  bool failed_ = false;
  std::array<std::byte, 1 << 14> gathered_;
  std::size_t used_ = 0;
};

}  // namespace

struct CrashWriter::Prepared {
  Prepared(const std::filesystem::path& run_dir, const BoxHead& box_head, const BlackBox& black_box)
      : folder(run_dir / format::kBlackBoxFolder), head(box_head), box(black_box) {}

  void write(int signal) noexcept;

 private:
  bool make_folders(std::int64_t step);
  template <class Write>
  bool write_file(std::string_view name, Write write_to);

  const std::string folder;
  const BoxHead& head;
  const BlackBox& box;

  // The handler's own, here so that its stack stays small.
  BoxSnapshot snapshot;
  FixedText path;
  FixedText renamed;
  FixedText why;
  DescriptorSink sink;
};

namespace {

std::array<std::atomic<CrashWriter::Prepared*>, CrashWriter::kMaxWriters> writers;
std::atomic<pid_t> owner = 0;           // children that were forked have no black box
std::atomic<bool> handling = false;     // the first signal writes, whatever follows it
std::atomic<bool> has_written = false;  // that one has written what there was to write
std::array<struct sigaction, kSignalCount> actions_before;
std::array<bool, kSignalCount> handlers_installed;
std::mutex install_mutex;
int install_count = 0;  // guarded by install_mutex

void on_signal(int signal, siginfo_t* info, void* context);

// What was there before us has the signal again.
void give_back(std::size_t index) {
  struct sigaction now {};
  if (::sigaction(kFatalSignals[index], nullptr, &now) != 0) return;
  if (now.sa_sigaction != on_signal) return;  // somebody else's now
  ::sigaction(kFatalSignals[index], &actions_before[index], nullptr);
}

// A fault happens again when the handler returns, now at who was there before us. What somebody sent is sent again.
void pass_on(int signal, const siginfo_t* info) {
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    if (kFatalSignals[i] == signal) ::sigaction(signal, &actions_before[i], nullptr);
  }
  const bool sent = info == nullptr || info->si_code <= 0 || signal == SIGABRT || signal == SIGTERM;
  if (sent) ::raise(signal);  // comes when the handler returns, which it blocks meanwhile
}

// Of a thread that has a signal while another one writes: passing it on would end the process under the writer.
// Bounded, so that a writer that is stuck does not keep a process that wants to die.
void wait_for_writer() {
  const std::int64_t until_ns = system_clock().steady_ns() + kMaxWaitNs;
  while (!has_written.load() && system_clock().steady_ns() < until_ns) ::nanosleep(&kWaitPause, nullptr);
}

void on_signal(int signal, siginfo_t* info, void*) {
  const int saved_errno = errno;
  if (owner.load() == ::getpid()) {
    if (handling.exchange(true)) {
      wait_for_writer();
    } else {
      for (auto& writer : writers) {
        if (CrashWriter::Prepared* const prepared = writer.load()) prepared->write(signal);
      }
      has_written.store(true);
    }
  }
  pass_on(signal, info);
  errno = saved_errno;
}

// So that a thread that has run out of stack can still write. Left in place: the thread may be in it.
void give_thread_a_stack() {
  stack_t now{};
  if (::sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) == 0) return;
  void* memory = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kStackBytes;
  if (::sigaltstack(&stack, nullptr) != 0) ::munmap(memory, kStackBytes);
}

void install_handlers() {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigfillset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    struct sigaction now {};
    if (::sigaction(kFatalSignals[i], nullptr, &now) != 0) continue;
    if (kFatalSignals[i] == SIGTERM && now.sa_handler != SIG_DFL) continue;  // not what ends this process
    if (now.sa_sigaction == on_signal) continue;                             // of a hook before, somebody's chain still
    actions_before[i] = now;
    handlers_installed[i] = ::sigaction(kFatalSignals[i], &action, nullptr) == 0;
  }
}

}  // namespace

bool CrashWriter::Prepared::make_folders(std::int64_t step) {
  path.cut(0);
  path.add(folder);
  ::mkdir(path.c_str(), 0777);
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return false;  // a link would lead out of the run
  const std::size_t before_name = path.add("/step-").size();
  for (int attempt = 0; attempt < kMaxNames; ++attempt) {
    path.cut(before_name);
    path.add_number(step, 6).add("-rank-").add_number(head.rank, 5);
    if (attempt > 0) path.add("-").add_number(attempt, 0);
    if (path.fits() && ::mkdir(path.c_str(), 0777) == 0) return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

// Under another name first: it is there whole, or not at all.
template <class Write>
bool CrashWriter::Prepared::write_file(std::string_view name, Write write_to) {
  const std::size_t folder_size = path.size();
  path.add("/").add(name);
  renamed.cut(0);
  renamed.add(path.text());
  path.add(".tmp");
  sink.start(path.fits() ? ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1);
  write_to(sink);
  const bool written = sink.finish() && ::rename(path.c_str(), renamed.c_str()) == 0;
  path.cut(folder_size);
  return written;
}

void CrashWriter::Prepared::write(int signal) noexcept {
  box.take(snapshot);
  if (snapshot.count == 0) return;
  why.cut(0);
  why.add(R"({"kind":"signal","message":"the process died on )").add(signal_name(signal));
  why.add(R"(","rule":"","signal":")").add(signal_name(signal)).add(R"("})");
  const BoxCause cause{.why = why.text(),
                       .unix_ns = system_clock().unix_ns(),
                       .ranks = &box.ranks(),
                       .given_up = box.given_up(),
                       .steps_without_room = box.steps_without_room()};
  if (!make_folders((snapshot.end() - 1)->id.global_step)) return;
  const std::size_t folder_size = path.size();
  for (const std::string_view part : {"/journal", "/rank-00000"}) {
    path.add(part);
    if (!path.fits() || ::mkdir(path.c_str(), 0777) != 0) return;
  }
  const bool journal =
      write_file("seg-00000000.tw", [&](ByteSink& out) { write_journal(head, snapshot, cause.unix_ns, out); });
  path.cut(folder_size);
  if (!journal) return;
  if (!write_file(kReplayFile, [&](ByteSink& out) { write_replay(head, snapshot, cause, out); })) return;
  write_file(journal::kRunFile, [&](ByteSink& out) { out.text(head.run_json); });
}

CrashWriter::CrashWriter(std::unique_ptr<Prepared> prepared) : prepared_(std::move(prepared)) {}

Result<std::unique_ptr<CrashWriter>> CrashWriter::install(const std::filesystem::path& run_dir, const BoxHead& head,
                                                          const BlackBox& box) {
  std::unique_ptr<CrashWriter> writer(new CrashWriter(std::make_unique<Prepared>(run_dir, head, box)));
  std::lock_guard lock(install_mutex);
  const auto place =
      std::find_if(writers.begin(), writers.end(), [](const auto& one) { return one.load() == nullptr; });
  if (place == writers.end()) {
    return Status(Code::kResourceExhausted,
                  fmt::format("{} hooks of this process have a black box already", kMaxWriters));
  }
  place->store(writer->prepared_.get());
  owner.store(::getpid());
  give_thread_a_stack();
  if (install_count++ == 0) install_handlers();
  return writer;
}

bool CrashWriter::signal_ends_process(int signal_number) {
  struct sigaction now {};
  if (::sigaction(signal_number, nullptr, &now) != 0) return false;
  if (now.sa_sigaction != on_signal) return now.sa_handler == SIG_DFL;
  const auto* const place = std::find(std::begin(kFatalSignals), std::end(kFatalSignals), signal_number);
  return place != std::end(kFatalSignals) && actions_before[place - std::begin(kFatalSignals)].sa_handler == SIG_DFL;
}

CrashWriter::~CrashWriter() {
  std::lock_guard lock(install_mutex);
  for (auto& writer : writers) {
    if (writer.load() == prepared_.get()) writer.store(nullptr);
  }
  if (--install_count > 0) return;
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    if (std::exchange(handlers_installed[i], false)) give_back(i);
  }
}

}  // namespace trainwarden::capture
