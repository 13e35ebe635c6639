#include "work/workspace/bucket_transfer.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/no_throw.h"
#include "core/base/pause.h"
#include "core/base/text.h"
#include "store/copy/copy_place.h"
#include "work/jobs/submitter_environment.h"

namespace trainwarden::workspace {
namespace {

constexpr std::chrono::milliseconds kAttendInterval{200};
constexpr std::chrono::milliseconds kJobPatience{600'000};  // with a network that is away, after days of training

struct JobVariables {
  std::map<std::string, std::string> set;
  std::set<std::string> removed;
};

}  // namespace

Environment environment_of_job(const jobs::JobOrder& order) {
  auto variables = std::make_shared<JobVariables>();
  if (!order.environment_file.empty()) {
    // Who may not read it has the variables of this process: the service of a cluster has started it with them.
    if (auto changes = jobs::read_submitter_environment(order.environment_file); changes.ok()) {
      variables->set = std::move(changes->set);
      variables->removed.insert(changes->removed.begin(), changes->removed.end());
    }
  }
  for (const auto& [name, value] : order.environment) variables->set[name] = value;
  return [variables](const char* name) -> const char* {
    if (const auto found = variables->set.find(name); found != variables->set.end()) return found->second.c_str();
    return variables->removed.contains(name) ? nullptr : process_environment(name);
  };
}

Status BucketTransfer::copy(const std::string& from, const std::string& to, bool is_sync,
                            const copy::CopyOptions& options, const std::stop_token& stop) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const copy::CopyEnds ends,
                               copy::find_ends({.from = from, .to = to, .is_sync = is_sync}, environment_, stop));
  copy::CopyTree tree(ends.from, ends.to, options);
  TRAINWARDEN_ASSIGN_OR_RETURN(const copy::CopySummary summary, tree.run(stop));
  return copy::problem_of(summary);
}

Status BucketTransfer::attended(const std::function<Status(const std::stop_token&)>& act) const {
  std::mutex mutex;
  std::condition_variable ended;
  bool has_ended = false;
  Status result;
  std::jthread thread([&](const std::stop_token& stop) {
    Status status = no_throw([&] { return act(stop); });
    const std::lock_guard guard(mutex);
    result = std::move(status);
    has_ended = true;
    ended.notify_all();
  });
  std::unique_lock lock(mutex);
  while (!ended.wait_for(lock, kAttendInterval, [&] { return has_ended; })) {
    lock.unlock();
    if (meanwhile_ && !meanwhile_()) thread.request_stop();
    lock.lock();
  }
  return result;
}

// A file gets its own name in the folder; what lies in a folder gets into it.
Status BucketTransfer::fetch(const std::string& from, const std::string& to, const std::string& what) {
  const auto act = [&](const std::stop_token& stop) -> Status {
    TRAINWARDEN_ASSIGN_OR_RETURN(const copy::CopyEnds ends,
                                 copy::find_ends({.from = from, .to = to}, environment_, stop));
    const std::string target = ends.is_file ? to + "/" : to;
    return copy(from, target, false, {.patience = kJobPatience}, stop);
  };
  return attended(act).with_context(what);
}

Status BucketTransfer::send(const std::string& from, const std::string& to, const std::string& what) {
  const auto act = [&](const std::stop_token& stop) { return copy(from, to, true, {.patience = kJobPatience}, stop); };
  return attended(act).with_context(what);
}

void BucketTransfer::start_keeping(KeptFolder folder) {
  keepers_.emplace_back([this, folder = std::move(folder)](const std::stop_token& stop) {
    const copy::CopyOptions options{.patience = std::chrono::seconds(0), .quiet = folder.quiet};
    for (pause_for(folder.interval, stop); !stop.stop_requested(); pause_for(folder.interval, stop)) {
      const Status kept = no_throw([&] { return copy(folder.from, folder.to, true, options, stop); });
      // Aborted: it was written meanwhile, and is sent the next time.
      const Code code = kept.code();
      if (kept.ok() || code == Code::kCancelled || code == Code::kNotFound || code == Code::kAborted) continue;
      log(LogLevel::kWarning, "{} not kept in {} for now: {}", folder.what, folder.to, kept.message());
    }
  });
}

void BucketTransfer::end_keeping() {
  for (std::jthread& keeper : keepers_) keeper.request_stop();
  keepers_.clear();
}

}  // namespace trainwarden::workspace
