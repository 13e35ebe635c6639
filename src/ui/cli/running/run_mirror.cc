#include "ui/cli/running/run_mirror.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/pause.h"
#include "core/base/text.h"
#include "store/s3/s3_storage.h"
#include "store/storage/bucket_folder.h"
#include "store/storage/location.h"
#include "ui/cli/reports/run_list.h"

namespace trainwarden::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMaxPause{60'000};
constexpr milliseconds kStep{100};  // how soon finish() is seen

}  // namespace

Result<std::string> checked_mirror_address(const std::string& typed, const std::filesystem::path& run) {
  if (!storage::is_bucket_address(typed)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("expected s3://BUCKET/PREFIX or gs://BUCKET/PREFIX for the run's copy, found \"{}\"",
                              printable(typed)));
  }
  std::string address = typed;
  if (address.ends_with('/')) address += run.filename().string();
  TRAINWARDEN_ASSIGN_OR_RETURN(const storage::BucketPlace place, storage::reach_bucket(address));
  TRAINWARDEN_RETURN_IF_ERROR(place.client->check_credentials());
  return address;
}

RunMirror::RunMirror(MirrorPlan plan, bool ends_by_itself) : plan_(std::move(plan)), ends_by_itself_(ends_by_itself) {
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

MirrorState RunMirror::state() const {
  const std::lock_guard guard(mutex_);
  return state_;
}

void RunMirror::finish() {
  const std::lock_guard guard(mutex_);
  finishing_ = true;
}

void RunMirror::stop() {
  thread_.request_stop();
}

bool RunMirror::has_ended() const {
  const std::lock_guard guard(mutex_);
  return ended_;
}

void RunMirror::work(const std::stop_token& stop) {
  Status problem;
  try {
    follow(stop);
  } catch (const std::exception& error) {
    problem = Status(Code::kInternal, error.what());
  }
  const std::lock_guard guard(mutex_);
  if (!problem.ok()) state_.problem = problem;
  ended_ = true;
}

// The run's writers have all ended, or were ended. `is_quiet`: the last look has found nothing new; before that it is
// not worth the reading of the run.
bool RunMirror::is_over(bool is_quiet) const {
  {
    const std::lock_guard guard(mutex_);
    if (finishing_) return true;
  }
  return ends_by_itself_ && is_quiet && read_listed_run(storage::Location(plan_.run)).over;
}

// False: everything is there.
bool RunMirror::take(const storage::MirrorRound& round, bool is_last) {
  const std::lock_guard guard(mutex_);
  state_.files += round.files;
  state_.bytes += round.bytes;
  state_.files_behind = round.files_behind;
  state_.bytes_behind = round.bytes_behind;
  state_.problem = round.problem;
  state_.is_done = is_last && round.problem.ok();
  return !state_.is_done;
}

void RunMirror::follow(const std::stop_token& stop) {
  auto client = storage::reach_bucket(plan_.address, stop);
  if (!client.ok()) {
    take({.problem = client.status()}, false);
    return;
  }
  storage::BucketMirror mirror(storage::Location(plan_.run).shared_storage(), client->client, client->prefix);
  milliseconds pause = plan_.interval;
  bool has_begun = false, is_quiet = true;
  std::optional<std::int64_t> over_since_ns;
  while (!stop.stop_requested()) {
    // Asked for before the look, so that what came in between is seen.
    const bool is_last = is_over(is_quiet);
    if (is_last && !over_since_ns) over_since_ns = system_clock().steady_ns();
    const Status begun = has_begun ? Status() : mirror.begin();
    has_begun = begun.ok();
    storage::MirrorRound round{.problem = begun};
    if (has_begun) round = mirror.look(is_last);
    if (has_begun && plan_.takes_requests && round.problem.ok()) round.problem = mirror.take_requests().status();
    is_quiet = has_begun && round.files == 0;
    if (!take(round, is_last)) return;
    const bool is_late =
        over_since_ns && milliseconds((system_clock().steady_ns() - *over_since_ns) / 1'000'000) > plan_.patience;
    if (is_late) return;
    pause = round.problem.ok() ? plan_.interval : std::min(2 * pause, kMaxPause);
    for (milliseconds waited{0}; waited < pause && !stop.stop_requested(); waited += kStep) {
      pause_for(kStep, stop);
      const std::lock_guard guard(mutex_);
      if (finishing_ && !is_last) break;
    }
  }
}

}  // namespace trainwarden::cli
