#include "ui/server/tail.h"

#include <algorithm>
#include <chrono>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "store/journal/run_folder.h"

namespace trainwarden::server {
namespace {

constexpr std::chrono::milliseconds kInterval{20};
// A run of many workers is dear to look at: the thread rests nine tenths of its time, but nobody waits longer than
// this.
constexpr int kRestsForLook = 9;
constexpr std::chrono::milliseconds kLongestRest{500};
constexpr std::int64_t kFolderIntervalNs = 1'000'000'000;
constexpr std::int64_t kFollowForNs = 3'600'000'000'000;
constexpr std::size_t kMostFollowed = 32;
constexpr std::size_t kOthersEachLook = 64;  // of a thousand runs each is asked every 16 s

}  // namespace

Tail::Tail(views::Shelf& shelf, NoticeBoard& board) : shelf_(shelf), board_(board), thread_([this] { work(); }) {}

Tail::~Tail() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Tail::looked_at(std::string_view run_id) {
  const std::lock_guard lock(mutex_);
  const std::int64_t now_ns = system_clock().steady_ns();
  const auto found = looked_at_.find(run_id);
  if (found != looked_at_.end()) {
    found->second = now_ns;
    return;
  }
  looked_at_.emplace(run_id, now_ns);
  if (looked_at_.size() <= kMostFollowed) return;
  looked_at_.erase(std::min_element(looked_at_.begin(), looked_at_.end(),
                                    [](const auto& a, const auto& b) { return a.second < b.second; }));
}

void Tail::set_listeners(std::size_t count) {
  {
    const std::lock_guard lock(mutex_);
    listeners_ = count;
  }
  wake_.notify_one();
}

void Tail::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return ending_ || listeners_ > 0; });
    if (ending_) return;
    lock.unlock();
    const std::int64_t begin_ns = system_clock().steady_ns();
    follow_runs();
    if (system_clock().steady_ns() - folder_looked_ns_ >= kFolderIntervalNs) look_at_folder();
    const std::chrono::nanoseconds look(system_clock().steady_ns() - begin_ns);
    lock.lock();
    wake_.wait_for(lock, std::clamp<std::chrono::nanoseconds>(kRestsForLook * look, kInterval, kLongestRest),
                   [this] { return ending_; });
  }
}

void Tail::follow_runs() {
  std::vector<std::string> ids;
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t now_ns = system_clock().steady_ns();
    std::erase_if(looked_at_, [&](const auto& look) { return now_ns - look.second > kFollowForNs; });
    for (const auto& [id, when] : looked_at_) ids.push_back(id);
  }
  std::erase_if(followed_, [&](const auto& run) { return std::find(ids.begin(), ids.end(), run.first) == ids.end(); });
  for (const std::string& id : ids) follow(id, followed_[id]);
}

// What is new is published at once; what was there at the first look is not: who asked just then got it.
void Tail::follow(const std::string& id, Followed& followed) {
  const auto run = shelf_.run(id);
  if (!run.ok()) return;  // it is gone, which the look at the folder reports
  const std::uint64_t rules = journal::journal_bytes((*run)->location().storage(), {"watch-", "ledger"});
  std::int64_t step = -1;
  RunState state = RunState::kRunning;
  std::uint64_t version = 0;
  {
    const auto use = (*run)->use();
    if (!use.ok()) return;  // whoever asks for something of it gets the error
    step = use->trial().last_complete_step();
    state = use->trial().state();
    version = use->version();
  }
  const Followed before = followed;
  followed.identity = (*run)->identity();
  followed.step = step;
  followed.state = state;
  followed.rules = rules;
  followed.version = version;
  followed.known = true;
  if (!before.known) {
    // Between that answer and this look something may have come.
    board_.publish(id, "steps", step);
    return;
  }
  if (followed.identity != before.identity) {
    // Another run lies there by now: whoever looks at the old one gets an error when they ask for something of it.
    for (const char* kind : {"steps", "state", "rules"}) board_.publish(id, kind, step);
    return;
  }
  if (step != before.step || version != before.version) board_.publish(id, "steps", step);
  if (state != before.state) board_.publish(id, "state");
  if (rules != before.rules) board_.publish(id, "rules");
}

void Tail::look_at_folder() {
  folder_looked_ns_ = system_clock().steady_ns();
  const auto runs = shelf_.list();
  if (!runs.ok()) {
    log(LogLevel::kWarning, "the folder of runs cannot be listed: {}", runs.status().message());
    return;
  }
  std::set<std::string> ids;
  for (const views::RunOnShelf& run : *runs) ids.insert(run.id);
  if (listed_once_ && ids != listed_) board_.publish("", "runs");
  listed_ = std::move(ids);
  listed_once_ = true;
  look_at_others(*runs);
}

void Tail::look_at_others(const std::vector<views::RunOnShelf>& runs) {
  const std::size_t count = std::min(kOthersEachLook, runs.size());
  for (std::size_t i = 0; i < count; ++i) {
    const views::RunOnShelf& run = runs[next_other_++ % runs.size()];
    if (followed_.contains(run.id)) continue;
    const std::uint64_t bytes = journal::journal_bytes(run.location.storage());
    const auto [known, added] = sizes_.emplace(run.id, bytes);
    if (added || known->second == bytes) continue;
    known->second = bytes;
    board_.publish(run.id, "steps");
  }
}

}  // namespace trainwarden::server
