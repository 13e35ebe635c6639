#include "ui/views/run_index.h"

#include <algorithm>
#include <utility>

#include "read/trial/run_listing.h"
#include "read/trial/trial_access.h"
#include "ui/views/shelf.h"

namespace trainwarden::views {
namespace {

using namespace std::chrono_literals;

constexpr auto kLookEvery = 1s;
constexpr std::size_t kCoursePoints = 40;
constexpr std::ptrdiff_t kMostOpen = 32;  // of runs that are being written
constexpr int kDeepest = 3;               // of the folders in a run that are looked at

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

RunIndex::RunIndex(storage::Location place, bool is_run)
    : place_(std::move(place)), is_run_(is_run), thread_([this] { work(); }) {}

RunIndex::~RunIndex() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

Result<std::vector<std::string>> RunIndex::names() const {
  if (is_run_) return std::vector<std::string>{place_.name()};
  return trial::list_runs(place_);
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
  std::erase_if(entries_, [&](const auto& entry) { return !files.contains(entry.first); });
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
  std::unique_lock lock(mutex_);
  std::unique_ptr<Trial> trial = std::move(entries_[name].trial);
  const bool files_changed = entries_[name].files_changed;
  const RunMark mark = mark_of(location_of(name));
  if (mark != entries_[name].mark) trial = nullptr;  // it may be another run by now
  const auto open =
      std::count_if(entries_.begin(), entries_.end(), [](const auto& e) { return e.second.trial != nullptr; });
  lock.unlock();

  if (trial != nullptr && !trial->refresh().ok()) trial = nullptr;  // opening it again says why
  if (trial != nullptr && !files_changed && trial->state() == RunState::kRunning) {
    lock.lock();
    entries_[name].trial = std::move(trial);
    return;
  }
  auto row = std::make_shared<RunRow>();
  LossCourse course;
  if (trial == nullptr) {
    auto opened = TrialAccess::open(location_of(name));
    if (opened.ok()) trial = *std::move(opened);
    row->unreadable = opened.status();
  }
  if (trial != nullptr) {
    *row = read_run_row(*trial);
    course = read_loss_course(*trial, kCoursePoints);
  }
  row->name = name;
  const bool keep = trial != nullptr && row->state == RunState::kRunning && open < kMostOpen;
  lock.lock();
  entries_[name].row = std::move(row);
  entries_[name].course = std::move(course);
  entries_[name].mark = mark;
  entries_[name].trial = keep ? std::move(trial) : nullptr;
}

}  // namespace trainwarden::views
