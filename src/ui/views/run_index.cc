#include "ui/views/run_index.h"

#include <algorithm>
#include <utility>

#include "read/trial/run_listing.h"
#include "ui/views/read_ahead.h"

namespace trainwarden::views {
namespace {

using namespace std::chrono_literals;

constexpr auto kLookEvery = 1s;
constexpr std::size_t kCoursePoints = 40;
constexpr std::size_t kMostOpen = 32;  // of runs that are being written
constexpr int kDeepest = 3;            // of the folders in a run that are looked at

void mix(std::uint64_t& hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  hash ^= hash >> 32;
}

// Of the files in a folder of a run: what changes when something is written, created or removed.
std::uint64_t look_into(const storage::Storage& storage, const std::string& folder, int depth) {
  std::uint64_t hash = 1;
  for (const storage::Entry& entry : storage.entries(folder).value_or({})) {
    using Kind = storage::FileInfo::Kind;
    const std::string path = folder.empty() ? entry.name : folder + "/" + entry.name;
    if (entry.info.kind == Kind::kFolder) {
      mix(hash, static_cast<std::uint64_t>(entry.info.changed_unix_ns));
      if (depth < kDeepest) mix(hash, look_into(storage, path, depth + 1));
    } else if (entry.info.kind == Kind::kFile && entry.name.ends_with(".tw")) {
      mix(hash, entry.info.bytes);
      mix(hash, static_cast<std::uint64_t>(entry.info.changed_unix_ns));
    }
  }
  return hash;
}

// Never 0.
std::uint64_t look_of(const storage::Location& run) {
  std::uint64_t hash = look_into(run.storage(), "", 1);
  const auto folder = run.storage().info("");
  if (folder.ok()) mix(hash, static_cast<std::uint64_t>(folder->changed_unix_ns));
  return hash == 0 ? 1 : hash;
}

}  // namespace

RunIndex::RunIndex(Shelf& shelf) : shelf_(shelf), thread_([this] { work(); }) {}

RunIndex::~RunIndex() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

Result<std::vector<std::string>> RunIndex::names() const {
  if (shelf_.is_run()) return std::vector<std::string>{shelf_.place().name()};
  return trial::list_runs(shelf_.place());
}

Result<IndexedRuns> RunIndex::runs(std::chrono::milliseconds patience) {
  const auto present = names();
  if (!present.ok()) return present.status();
  std::unique_lock lock(mutex_);
  const auto unread = [&] {
    return std::count_if(present->begin(), present->end(), [&](const std::string& name) {
      const auto entry = entries_.find(name);
      return entry == entries_.end() || !entry->second.row;
    });
  };
  // Who asks may know that something is new: a look that began before that may have missed it. One that took too long
  // to be waited for is enough for who asks again: in a folder of many runs there would be no end of asking.
  const std::uint64_t look = look_owed_ != 0 ? look_owed_ : looks_begun_ + 1;
  if (looks_done_ < look) {
    look_ = true;
    wake_.notify_all();
  }
  const bool looked = looked_.wait_for(lock, patience, [&] { return ending_ || looks_done_ >= look; });
  look_owed_ = looked ? 0 : look;
  IndexedRuns result;
  result.reading = std::max(static_cast<std::size_t>(unread()), std::size_t{looked ? 0u : 1u});
  for (const std::string& name : *present) {
    const auto entry = entries_.find(name);
    const bool known = entry != entries_.end();
    result.runs.push_back(
        {run_id_of(name), name, known ? entry->second.row : nullptr, known ? entry->second.course : LossCourse()});
  }
  return result;
}

void RunIndex::work() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    look_ = false;
    const std::uint64_t look = ++looks_begun_;
    lock.unlock();
    const std::vector<std::string> changed = changed_runs();
    lock.lock();
    for (const std::string& name : changed) {
      if (ending_) return;
      lock.unlock();
      read(name);
      lock.lock();
    }
    looks_done_ = look;
    looked_.notify_all();
    lock.unlock();
    read_newest_ahead();
    lock.lock();
    wake_.wait_for(lock, kLookEvery, [this] { return ending_ || look_; });
  }
}

// The newest first; forgets runs that are gone.
std::vector<std::string> RunIndex::changed_runs() {
  const auto present = names();
  if (!present.ok()) return {};  // whoever asks for the list gets the error
  std::map<std::string, std::uint64_t> files;
  for (const std::string& name : *present) files[name] = look_of(location_of(name));
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& entry) {
    const bool is_gone = !files.contains(entry.first);
    if (is_gone) forget(entry.first);
    return is_gone;
  });
  std::vector<std::string> changed;
  for (const auto& [name, look] : files) {
    Entry& entry = entries_[name];
    // A training that is killed changes no file: whoever may still be writing is looked at each time.
    const bool writing = entry.row && entry.row->unreadable.ok() && entry.row->state == RunState::kRunning;
    if (entry.files == look && !writing) continue;
    entry.files_changed = entry.files != look;
    entry.files = look;
    changed.push_back(name);
  }
  std::reverse(changed.begin(), changed.end());  // names often hold times or numbers that rise
  return changed;
}

void RunIndex::read(const std::string& name) {
  auto row = std::make_shared<RunRow>();
  LossCourse course;
  const auto run = shelf_.listed_run({run_id_of(name), name, location_of(name)});
  Status status = run.status();
  if (run.ok()) {
    const auto use = (*run)->use(0ms);
    status = use.status();
    if (use.ok() && use->trial().state() == RunState::kRunning && is_known(name, **run)) return;
    if (use.ok()) *row = read_run_row(use->trial());
    if (use.ok()) course = read_loss_course(use->trial(), kCoursePoints);
  }
  row->unreadable = status;
  row->name = name;
  keep_or_close(*row);
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[name];
  entry.row = std::move(row);
  entry.course = std::move(course);
  entry.identity = run.ok() ? (*run)->identity() : "";
}

// Nothing is new since its row was read.
bool RunIndex::is_known(const std::string& name, const OpenRun& run) {
  const std::lock_guard lock(mutex_);
  const Entry& entry = entries_[name];
  return entry.row && entry.row->unreadable.ok() && !entry.files_changed && entry.identity == run.identity();
}

void RunIndex::keep_or_close(const RunRow& row) {
  open_.erase(row.name);
  const bool is_readable = row.unreadable.ok();
  if (is_readable && row.state == RunState::kRunning && open_.size() < kMostOpen) open_.insert(row.name);
  std::string done = row.name;
  if (is_readable && row.last_unix_ns >= newest_unix_ns_) {
    std::swap(done, newest_);
    newest_unix_ns_ = row.last_unix_ns;
  }
  if (done != newest_ && !open_.contains(done)) shelf_.close_listed(run_id_of(done));
}

void RunIndex::forget(const std::string& name) {
  open_.erase(name);
  shelf_.close_listed(run_id_of(name));
  if (newest_ != name) return;
  newest_.clear();
  newest_unix_ns_ = 0;
}

// Once for each run that is the newest. Gives way to whoever asks for the list.
void RunIndex::read_newest_ahead() {
  if (newest_.empty()) return;
  const auto run = shelf_.listed_run({run_id_of(newest_), newest_, location_of(newest_)});
  if (!run.ok() || (*run)->identity() == ahead_) return;
  const bool is_done = read_losses_ahead(**run, [this] {
    const std::lock_guard lock(mutex_);
    return ending_ || look_;
  });
  if (is_done) ahead_ = (*run)->identity();
}

}  // namespace trainwarden::views
