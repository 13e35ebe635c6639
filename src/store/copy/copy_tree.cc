#include "store/copy/copy_tree.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/no_throw.h"
#include "core/base/pause.h"
#include "core/base/text.h"
#include "store/copy/content_check.h"
#include "store/copy/file_copy.h"

namespace trainwarden::copy {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxListed = 1'000;        // paths in a summary
constexpr std::int64_t kNearNs = 2'000'000'000;  // times of two clocks that tell nothing
constexpr milliseconds kFirstPause{1'000}, kLongestPause{10'000};

bool is_network_away(const Status& status) {
  return status.code() == Code::kUnavailable || status.code() == Code::kDeadlineExceeded;
}
const Status& status_in(const Status& status) {
  return status;
}
template <class Value>
Status status_in(const Result<Value>& result) {
  return result.ok() ? Status() : result.status();
}

}  // namespace

class CopyTree::Work {
 public:
  Work(std::shared_ptr<CopyEnd> from, std::shared_ptr<CopyEnd> to, const CopyOptions& options)
      : from_(std::move(from)), to_(std::move(to)), options_(options) {}

  Result<CopySummary> run(const std::stop_token& stop);
  CopyProgress progress() const {
    const std::lock_guard guard(mutex_);
    return progress_;
  }

 private:
  struct Task {
    std::optional<std::size_t> file;  // to be begun
    std::shared_ptr<FileCopy> copy;   // whose chunk is to be copied
    std::uint64_t chunk = 0;
  };

  Status list_ends();
  Status check_room();
  void work();
  std::optional<Task> take_task();
  void give_back(const Task& task);
  void begin_file(std::size_t index);
  void start(const std::shared_ptr<FileCopy>& copy);
  void copy_chunk(const Task& task, std::string& buffer);
  void finish_file(const std::shared_ptr<FileCopy>& copy);
  Result<bool> is_there(const CopyFile& file, const CopyFile& before);
  Result<bool> has_tag_of(const CopyFile& file, const CopyFile& before, bool reads_both);
  void count_same(const CopyFile& file);
  void count_copied(const CopyFile& file, std::uint64_t bytes_there, bool is_checked);
  void add_problem(const std::string& path, const Status& status);
  void end_by(const Status& status);
  void remove_extra();
  void end_unfinished(bool is_all);
  Result<CopySummary> abandon();
  template <class Act>
  auto patiently(const Act& act) -> decltype(act());

  const std::shared_ptr<CopyEnd> from_, to_;
  const CopyOptions options_;
  std::stop_token stop_;
  CopyListing source_;
  std::map<std::string, CopyFile> there_;  // by path
  std::vector<std::string> leftovers_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_file_ = 0;
  std::list<std::shared_ptr<FileCopy>> active_;
  int at_work_ = 0;  // tasks that may bring others
  bool has_ended_ = false;
  std::int64_t fine_ns_ = 0;  // when something was done last
  CopySummary summary_;
  CopyProgress progress_;
};

Result<CopySummary> CopyTree::Work::run(const std::stop_token& stop) {
  stop_ = stop;
  fine_ns_ = system_clock().steady_ns();
  TRAINWARDEN_RETURN_IF_ERROR(patiently([&] { return list_ends(); }));
  if (options_.abandons) return abandon();
  if (!options_.dry_run) TRAINWARDEN_RETURN_IF_ERROR(check_room());
  {
    const unsigned most = std::clamp(options_.connections, 1u, kMaxConnections);
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < most; ++i) threads.emplace_back([this] { work(); });
  }
  if (stop.stop_requested() && summary_.ended_by.ok() &&
      summary_.files_copied + summary_.files_same < source_.files.size()) {
    summary_.ended_by = Status(Code::kCancelled, "left before all was copied");
  }
  if (summary_.is_complete() && options_.removes) remove_extra();
  if (summary_.is_complete() && !options_.dry_run) end_unfinished(options_.removes);
  return summary_;
}

Status CopyTree::Work::list_ends() {
  TRAINWARDEN_ASSIGN_OR_RETURN(source_, from_->list());
  auto target = to_->list();
  if (!target.ok() && target.status().code() != Code::kNotFound) return target.status();
  if (target.ok()) {
    for (CopyFile& file : target->files) there_[file.path] = std::move(file);
    leftovers_ = std::move(target->leftovers);
  }
  const std::lock_guard guard(mutex_);
  summary_.files = progress_.files = source_.files.size();
  for (const CopyFile& file : source_.files) summary_.bytes += file.bytes;
  progress_.bytes = summary_.bytes;
  progress_.is_listing = false;
  summary_.links = source_.links;
  summary_.left_out = source_.left_out;
  return {};
}

// What has arrived of an earlier try takes room already, so it is not known how much is needed more.
Status CopyTree::Work::check_room() {
  const auto room = to_->room();
  if (!room || !leftovers_.empty()) return {};
  std::uint64_t needed = 0;
  for (const CopyFile& file : source_.files) {
    const auto found = there_.find(file.path);
    if (found == there_.end() || found->second.bytes != file.bytes) needed += file.bytes;
  }
  if (needed <= *room) return {};
  return Status(Code::kResourceExhausted, fmt::format("{} are needed at {}, and {} are free", format_bytes(needed),
                                                      printable(to_->describe("")), format_bytes(*room)));
}

// While the network is away, for as long as the user has patience. Others that get through end the waiting's count.
template <class Act>
auto CopyTree::Work::patiently(const Act& act) -> decltype(act()) {
  for (milliseconds pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    auto result = no_throw(act);
    const Status status = status_in(result);
    const std::int64_t now_ns = system_clock().steady_ns();
    std::unique_lock lock(mutex_);
    if (!is_network_away(status)) {
      if (status.ok()) {
        fine_ns_ = now_ns;
        progress_.trouble.clear();
      }
      return result;
    }
    const bool is_late = milliseconds((now_ns - fine_ns_) / 1'000'000) >= options_.patience;
    if (is_late || has_ended_ || stop_.stop_requested()) return result;
    progress_.trouble = status.message();
    lock.unlock();
    pause_for(pause, stop_);
  }
}

void CopyTree::Work::work() {
  std::string buffer;
  while (const auto task = take_task()) {
    const Status status = no_throw([&] {
      if (task->file) {
        begin_file(*task->file);
      } else {
        copy_chunk(*task, buffer);
      }
      return Status();
    });
    if (!status.ok()) end_by(status);
    give_back(*task);
  }
}

// A chunk of a file that is under way before another file.
std::optional<CopyTree::Work::Task> CopyTree::Work::take_task() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (has_ended_ || stop_.stop_requested()) {
      changed_.notify_all();
      return std::nullopt;
    }
    for (const auto& copy : active_) {
      if (const auto chunk = copy->next_chunk()) {
        ++copy->under_way;
        ++at_work_;
        return Task{.file = {}, .copy = copy, .chunk = *chunk};
      }
    }
    if (next_file_ < source_.files.size()) {
      ++at_work_;
      return Task{.file = next_file_++, .copy = nullptr};
    }
    if (at_work_ == 0) {
      changed_.notify_all();
      return std::nullopt;
    }
    changed_.wait(lock);
  }
}

// Who brings the last chunk of a file finishes it.
void CopyTree::Work::give_back(const Task& task) {
  std::unique_lock lock(mutex_);
  const bool is_last = task.copy && --task.copy->under_way == 0 && !task.copy->has_next_chunk();
  if (is_last) {
    active_.remove(task.copy);
    lock.unlock();
    if (const Status status = no_throw([&] {
          finish_file(task.copy);
          return Status();
        });
        !status.ok()) {
      end_by(status);
    }
    lock.lock();
  }
  --at_work_;
  changed_.notify_all();
}

void CopyTree::Work::begin_file(std::size_t index) {
  const CopyFile& file = source_.files[index];
  const std::int64_t age_ns = system_clock().unix_ns() - file.changed_unix_ns;
  if (age_ns < std::chrono::nanoseconds(options_.quiet).count() && options_.quiet.count() > 0) {
    const std::lock_guard guard(mutex_);
    ++summary_.files_left;
    return;
  }
  const auto found = there_.find(file.path);
  std::optional<CopyFile> before;
  if (found != there_.end()) before = found->second;
  if (before) {
    const auto same = patiently([&] { return is_there(file, *before); });
    if (same.ok() && *same) return count_same(file);
    if (!same.ok() && same.status().code() != Code::kNotFound && same.status().code() != Code::kAborted) {
      return add_problem(file.path, same.status());
    }
  }
  if (options_.dry_run) return count_copied(file, 0, false);
  if (!before || !before->is_pieces()) {
    const Status direct = patiently([&] { return to_->take_directly(file, *from_); });
    if (direct.ok()) return count_copied(file, 0, true);
  }
  start(std::make_shared<FileCopy>(*from_, *to_, file, std::move(before)));
}

void CopyTree::Work::start(const std::shared_ptr<FileCopy>& copy) {
  const Status begun = patiently([&] { return copy->begin(); });
  if (!begun.ok()) return add_problem(copy->file().path, begun);
  {
    const std::lock_guard guard(mutex_);
    progress_.bytes_done += copy->bytes_there();
    if (copy->has_next_chunk()) {
      active_.push_back(copy);
      changed_.notify_all();
      return;
    }
  }
  finish_file(copy);
}

void CopyTree::Work::copy_chunk(const Task& task, std::string& buffer) {
  FileCopy& copy = *task.copy;
  const Status read = patiently([&] { return copy.read_chunk(task.chunk, buffer); });
  if (!read.ok()) return copy.fail(task.chunk, read);
  const auto put = patiently([&] { return copy.put_chunk(task.chunk, buffer); });
  if (!put.ok()) return copy.fail(task.chunk, put.status());
  const std::lock_guard guard(mutex_);
  progress_.bytes_done += buffer.size();
  (*put == Arrival::kSent ? progress_.bytes_moved : summary_.bytes_resumed) += buffer.size();
}

void CopyTree::Work::finish_file(const std::shared_ptr<FileCopy>& copy) {
  bool is_checked = false;
  const std::string path = copy->file().path;
  const Status status = patiently([&] { return copy->finish(options_.checks, is_checked, stop_); });
  if (status.ok()) return count_copied(copy->file(), copy->bytes_there(), is_checked);
  if (!stop_.stop_requested() && copy->may_try_again(status)) return start(copy);
  add_problem(path, status);
}

Result<bool> CopyTree::Work::has_tag_of(const CopyFile& file, const CopyFile& before, bool reads_both) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Sameness sameness, compare_files(*from_, file, *to_, before, reads_both, stop_));
  return sameness == Sameness::kSame;
}

Result<bool> CopyTree::Work::is_there(const CopyFile& file, const CopyFile& before) {
  if (file.bytes != before.bytes || before.is_pieces()) return false;
  if (file.bytes == 0) return true;
  if (options_.checks) return has_tag_of(file, before, true);
  if (file.parts.size() == 1 && before.parts.size() == 1 && file.parts[0].info.etag == before.parts[0].info.etag) {
    return true;
  }
  const std::int64_t there_ns = before.changed_unix_ns - to_->ahead_ns();
  const std::int64_t source_ns = file.changed_unix_ns - from_->ahead_ns();
  if (to_->keeps_times() ? before.changed_unix_ns == file.changed_unix_ns : there_ns >= source_ns + kNearNs)
    return true;
  return has_tag_of(file, before, false);
}

void CopyTree::Work::count_same(const CopyFile& file) {
  const std::lock_guard guard(mutex_);
  ++summary_.files_same;
  summary_.bytes_same += file.bytes;
  ++progress_.files_done;
  progress_.bytes_done += file.bytes;
}

void CopyTree::Work::count_copied(const CopyFile& file, std::uint64_t bytes_there, bool is_checked) {
  const std::lock_guard guard(mutex_);
  ++summary_.files_copied;
  summary_.files_checked += is_checked ? 1 : 0;
  summary_.bytes_copied += file.bytes;
  summary_.bytes_resumed += bytes_there;
  ++progress_.files_done;
  if (options_.dry_run && summary_.copied.size() < kMaxListed) summary_.copied.push_back(file.path);
}

void CopyTree::Work::add_problem(const std::string& path, const Status& status) {
  // What concerns all files is told once.
  if (is_network_away(status) || status.code() == Code::kResourceExhausted || status.code() == Code::kCancelled)
    return end_by(status);
  const std::lock_guard guard(mutex_);
  ++progress_.files_done;
  summary_.problems.push_back({path, status});
}

void CopyTree::Work::end_by(const Status& status) {
  const std::lock_guard guard(mutex_);
  if (summary_.ended_by.ok()) summary_.ended_by = status;
  has_ended_ = true;
  changed_.notify_all();
}

// Behind a link of the source nobody has looked: what is there at its place stays.
void CopyTree::Work::remove_extra() {
  for (const CopyFile& file : source_.files) there_.erase(file.path);
  const std::set<std::string> links(source_.links.begin(), source_.links.end());
  const auto is_behind_link = [&](std::string path) {
    for (; !path.empty(); path.resize(path.find('/') == std::string::npos ? 0 : path.rfind('/'))) {
      if (links.contains(path)) return true;
    }
    return false;
  };
  for (const auto& [path, found] : there_) {
    if (is_behind_link(path)) continue;
    const CopyFile& file = found;  // clang 14 lets no lambda have a structured binding
    const Status removed = options_.dry_run ? Status() : patiently([&] { return to_->remove(file); });
    if (!removed.ok()) {
      add_problem(path, removed);
      continue;
    }
    ++summary_.files_removed;
    if (summary_.removed.size() < kMaxListed) summary_.removed.push_back(path);
  }
}

void CopyTree::Work::end_unfinished(bool is_all) {
  for (const std::string& path : leftovers_) {
    const auto removed = to_->remove_leftover(path);
    if (!removed.ok()) summary_.problems.push_back({path, removed.status()});
    summary_.unfinished_ended += removed.value_or(false) ? 1 : 0;
  }
  const auto ended = patiently([&] { return to_->end_unfinished(source_.files, is_all); });
  if (ended.ok()) {
    summary_.unfinished_ended += *ended;
  } else if (ended.status().code() != Code::kPermissionDenied && ended.status().code() != Code::kNotFound &&
             ended.status().code() != Code::kUnimplemented) {
    // Who may put objects need not be allowed to list what was begun.
    summary_.problems.push_back({"", ended.status()});
  }
}

Result<CopySummary> CopyTree::Work::abandon() {
  if (!options_.dry_run) end_unfinished(false);
  return summary_;
}

CopyTree::CopyTree(std::shared_ptr<CopyEnd> from, std::shared_ptr<CopyEnd> to, const CopyOptions& options)
    : work_(std::make_unique<Work>(std::move(from), std::move(to), options)) {}

CopyTree::~CopyTree() = default;

Result<CopySummary> CopyTree::run(const std::stop_token& stop) {
  return no_throw([&] { return work_->run(stop); });
}

CopyProgress CopyTree::progress() const {
  return work_->progress();
}

Status problem_of(const CopySummary& summary) {
  if (!summary.ended_by.ok()) return summary.ended_by;
  const std::size_t count = summary.problems.size() + summary.left_out.size();
  if (count == 0) return {};
  const std::string more = count > 1 ? fmt::format("; and {} more files", count - 1) : "";
  if (summary.problems.empty()) {
    const LeftOut& left = summary.left_out.front();
    return Status(Code::kInternal, fmt::format("{} cannot be copied: {}{}", printable(left.path), left.why, more));
  }
  const CopyProblem& problem = summary.problems.front();
  return Status(problem.status.code(), fmt::format("{}{}", problem.status.message(), more));
}

}  // namespace trainwarden::copy
