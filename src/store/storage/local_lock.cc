// Open file description locks (fcntl): they exclude two owners within one process too, and another part of the process
// that opens and closes the file does not lose them, as it would with classic POSIX locks. But a forked child shares
// them: without the care taken here, a data-loader worker that outlives its killed parent would keep the lock.
#include "store/storage/local_lock.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "core/base/owned_descriptor.h"
#include "core/base/text.h"
#include "store/storage/system_error.h"

namespace trainwarden::storage {
namespace {

class LocalLock;

// All locks that this process holds, so that a forked child can let go of them.
class HeldLocks {
 public:
  static HeldLocks& instance() {
    static HeldLocks* const locks = new HeldLocks;  // never destroyed: a fork may come after the end of main()
    return *locks;
  }

  void add(LocalLock& lock, OwnedDescriptor file);
  void remove(LocalLock& lock);
  bool is_held(const LocalLock& lock);  // also when it is the parent's affair
  void replace(LocalLock& lock, OwnedDescriptor file);

 private:
  HeldLocks() { ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }
  static void before_fork() { instance().mutex_.lock(); }
  static void after_fork_in_parent() { instance().mutex_.unlock(); }
  static void after_fork_in_child();
  void take(LocalLock& lock, OwnedDescriptor file);

  std::mutex mutex_;
  std::vector<LocalLock*> locks_;
};

// Its file belongs to HeldLocks as long as it is there.
class LocalLock final : public Lock {
 public:
  LocalLock(OwnedDescriptor file, const Beneath& beneath, std::string path)
      : beneath_(beneath), path_(std::move(path)) {
    HeldLocks::instance().add(*this, std::move(file));
  }
  ~LocalLock() override { HeldLocks::instance().remove(*this); }

  Status keep() override;

 private:
  friend class HeldLocks;
  OwnedDescriptor file_;
  bool is_let_go_ = false;  // in a forked child
  const Beneath beneath_;
  const std::string path_;
};

void HeldLocks::add(LocalLock& lock, OwnedDescriptor file) {
  std::lock_guard guard(mutex_);
  take(lock, std::move(file));
  locks_.push_back(&lock);
}

void HeldLocks::remove(LocalLock& lock) {
  std::lock_guard guard(mutex_);
  std::erase(locks_, &lock);
}

bool HeldLocks::is_held(const LocalLock& lock) {
  std::lock_guard guard(mutex_);
  return lock.is_let_go_ || lock.file_.get() >= 0;
}

void HeldLocks::replace(LocalLock& lock, OwnedDescriptor file) {
  std::lock_guard guard(mutex_);
  take(lock, std::move(file));
}

// A number that was free belongs to no other lock: not to one that the program has closed, and which may even be that
// of the same file.
void HeldLocks::take(LocalLock& lock, OwnedDescriptor file) {
  for (LocalLock* other : locks_) {
    if (other->file_.number() == file.number()) other->file_.forget();
  }
  lock.file_ = std::move(file);
}

// The parent's share stays.
void HeldLocks::after_fork_in_child() {
  for (LocalLock* lock : instance().locks_) {
    lock->file_.close();
    lock->is_let_go_ = true;
  }
  instance().mutex_.unlock();
}

struct flock whole_file() {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return range;
}

constexpr std::size_t kMaxHolderBytes = 32;

std::string content_of(int file) {
  std::array<char, kMaxHolderBytes> text{};
  const ssize_t bytes = ::pread(file, text.data(), text.size(), 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))};
}

// What the file says, or said once; empty when it says nothing.
std::string written_holder(int file) {
  const std::string content = content_of(file);
  return content.substr(0, content.find_first_not_of("0123456789"));
}

std::string holder(int file) {
  const std::string pid = written_holder(file);
  return pid.empty() ? "another process" : fmt::format("process {}", pid);
}

bool is_locked(int file) {
  struct flock range = whole_file();
  return ::fcntl(file, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

// The kernel lists for each descriptor of a process which locks are held through it ("lock:\t1: OFDLCK  ADVISORY
// WRITE").
bool holds_lock(const std::filesystem::path& process, const std::string& descriptor) {
  std::ifstream info(process / "fdinfo" / descriptor);
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("lock:") && line.find(" WRITE ") != std::string::npos) return true;
  }
  return false;
}

// Has it the file open, and the lock with it? False as well when we may not look.
bool process_holds(const std::string& pid, const struct stat& file) {
  const std::filesystem::path process = std::filesystem::path("/proc") / pid;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(process / "fd", error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat open_file {};
    const bool is_it = ::stat(entry->path().c_str(), &open_file) == 0 && open_file.st_ino == file.st_ino &&
                       open_file.st_dev == file.st_dev;
    if (is_it && holds_lock(process, entry->path().filename().string())) return true;
  }
  return false;
}

Status no_lock_file(const std::string& path, std::string_view found) {
  return Status(Code::kPermissionDenied,
                fmt::format("cannot lock {}: expected a file with nothing but a process id in it, found {}; somebody "
                            "may have put it there: move it away",
                            path, found));
}

// Whoever may write into a run's folder could have put another name of somebody's file here.
Status check_lock_file(int file, const std::string& path) {
  struct stat info {};
  if (::fstat(file, &info) != 0) return system_error(errno, "lock", path);
  if (!S_ISREG(info.st_mode)) return no_lock_file(path, "no regular file");
  if (info.st_nlink > 1) return no_lock_file(path, fmt::format("a file with {} names", info.st_nlink));
  if (info.st_size > static_cast<off_t>(kMaxHolderBytes)) {
    return no_lock_file(path, fmt::format("{} bytes", info.st_size));
  }
  if (content_of(file).find_first_not_of("0123456789\n") != std::string::npos) return no_lock_file(path, "a text");
  return Status();
}

// What network file systems say that were mounted without locks.
bool has_no_locks(int error_number) {
  return error_number == ENOLCK || error_number == ENOSYS || error_number == EOPNOTSUPP || error_number == EINVAL;
}

Status no_locks(const std::string& path) {
  return Status(Code::kUnimplemented, fmt::format("cannot lock {}: its file system has no locks", path));
}

// For people and messages only: what counts is the lock.
void write_holder(int file) {
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file, 0) != 0) return;
  [[maybe_unused]] const ssize_t written = ::pwrite(file, pid.data(), pid.size(), 0);
}

FileDescriptor open_to_look(const Beneath& beneath, const std::string& path) {
  auto file = beneath.open(path, O_RDONLY | O_NONBLOCK, "look at");
  return file.ok() ? *std::move(file) : FileDescriptor();
}

Result<OwnedDescriptor> open_locked(const Beneath& beneath, const std::string& path) {
  const std::string full_path = beneath.describe(path);
  TRAINWARDEN_ASSIGN_OR_RETURN(FileDescriptor opened,
                               beneath.open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY, "lock", 0666));
  OwnedDescriptor file(std::move(opened));
  if (!file.is_open()) return system_error(errno, "lock", full_path);
  TRAINWARDEN_RETURN_IF_ERROR(check_lock_file(file.number(), full_path));
  struct flock range = whole_file();
  if (::fcntl(file.number(), F_OFD_SETLK, &range) != 0) {
    if (has_no_locks(errno)) return no_locks(full_path);
    if (errno != EAGAIN && errno != EACCES) return system_error(errno, "lock", full_path);
    return Status(Code::kAlreadyExists, fmt::format("{} is locked by {}; wait for it to end, or use another folder",
                                                    full_path, holder(file.number())));
  }
  write_holder(file.number());
  return file;
}

// The system frees a lock when its last descriptor is closed, whoever closes it.
Status LocalLock::keep() {
  if (HeldLocks::instance().is_held(*this)) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(OwnedDescriptor file, open_locked(beneath_, path_));
  HeldLocks::instance().replace(*this, std::move(file));
  return Status();
}

}  // namespace

Result<std::unique_ptr<Lock>> lock_local_file(const Beneath& beneath, const std::string& path) {
  TRAINWARDEN_ASSIGN_OR_RETURN(OwnedDescriptor file, open_locked(beneath, path));
  return std::unique_ptr<Lock>(std::make_unique<LocalLock>(std::move(file), beneath, path));
}

bool local_file_locked(const Beneath& beneath, const std::string& path) {
  const FileDescriptor file = open_to_look(beneath, path);
  return file.is_open() && is_locked(file.get());
}

std::optional<std::int64_t> local_lock_holder(const Beneath& beneath, const std::string& path) {
  const FileDescriptor file = open_to_look(beneath, path);
  struct stat info {};
  if (!file.is_open() || !is_locked(file.get()) || ::fstat(file.get(), &info) != 0) return std::nullopt;
  const std::string pid = written_holder(file.get());
  const auto number = parse_int(pid);
  if (!number || *number <= 0 || !process_holds(pid, info)) return std::nullopt;
  return number;
}

}  // namespace trainwarden::storage
