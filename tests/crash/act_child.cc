// The child of the tests that kill who judges and who delivers.
//
//   act_child ROLE FOLDER [POINT COUNT]
//
// ROLE  watch       judges, records and delivers, until it is killed
//       engine      judges only
//       dispatcher  records and delivers only
//       finish      as watch, until the run has ended and everything is delivered
//       parts       as finish, put together by hand on a storage that kills the process when POINT is reached for the
//                   COUNT-th time: one of crash_points(), or "in_action", "after_action"
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include "act_scene.h"
#include "core/base/pause.h"
#include "crashing_storage.h"
#include "react/delivery/courier.h"
#include "react/events/ledger.h"
#include "react/events/recorder.h"
#include "react/watch/context_of_run.h"
#include "react/watch/run_watch.h"
#include "read/trial/trial_access.h"
#include "store/storage/local_storage.h"

namespace trainwarden::act {
namespace {

constexpr std::chrono::milliseconds kPollInterval{1};
constexpr std::chrono::seconds kLongestDrain{60};

watch::RunWatchOptions watch_options(const ActScene& scene) {
  watch::RunWatchOptions options;
  options.keep_going = true;
  options.subscribe = [scene](const actions::RunContext& run) { return make_subscriptions(scene, run); };
  return options;
}

// Beside one who keeps the ledger it judges, and leaves delivering to that one: the subscribers are the same.
Status watch_for_ever(const ActScene& scene, bool judges) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, Trial::open(scene.run()));
  const auto start = [&](watch::RunWatchOptions options) {
    return watch::RunWatch::start(*trial, judges ? make_rules() : std::vector<rules::EngineRule>(), std::move(options));
  };
  TRAINWARDEN_ASSIGN_OR_RETURN(auto watch, start(watch_options(scene)));
  if (!watch->note().empty()) {
    watch.reset();
    TRAINWARDEN_ASSIGN_OR_RETURN(watch, start({.keep_going = true}));
  }
  while (true) {
    TRAINWARDEN_RETURN_IF_ERROR(watch->poll());
    pause_for(kPollInterval, {});
  }
}

Status judge_for_ever(const ActScene& scene) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, Trial::open(scene.run()));
  const auto storage = storage::open_local_storage(scene.run());
  rules::EngineOptions options;
  options.keep_going = true;
  options.journal_storage = storage.get();
  rules::Engine engine(*trial, make_rules(), options);
  TRAINWARDEN_RETURN_IF_ERROR(engine.journal_status());
  while (true) {
    TRAINWARDEN_RETURN_IF_ERROR(engine.poll());
    pause_for(kPollInterval, {});
  }
}

Status check_backlog(const delivery::Backlog& left) {
  if (left.pending == 0 && left.dead == 0) return {};
  return Status(Code::kDeadlineExceeded,
                fmt::format("{} events are not delivered, {} are dead", left.pending, left.dead));
}

Status finish(const ActScene& scene) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, Trial::open(scene.run()));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto watch, watch::RunWatch::start(*trial, make_rules(), watch_options(scene)));
  if (!watch->note().empty()) return Status(Code::kFailedPrecondition, watch->note());
  while (!watch->engine().run_ended()) {
    TRAINWARDEN_RETURN_IF_ERROR(watch->poll());
    pause_for(kPollInterval, {});
  }
  watch->finish();
  const auto end = std::chrono::steady_clock::now() + kLongestDrain;
  while (watch->backlog().pending > 0 && std::chrono::steady_clock::now() < end) {
    watch->settle(kLongestDrain);
    pause_for(kPollInterval, {});
  }
  return check_backlog(watch->backlog());
}

// Kills this process when `point` is passed for the count-th time.
class KillingMoment {
 public:
  KillingMoment(std::string point, int count) : point_(std::move(point)), left_(count) {}
  void pass(std::string_view point) {
    if (point == point_ && --left_ == 0) ::kill(::getpid(), SIGKILL);
  }

 private:
  const std::string point_;
  std::atomic<int> left_;
};

Status run_parts(const ActScene& scene, const std::string& point, int count) {
  const auto storage = crash::create_crashing_storage(storage::open_local_storage(scene.run()), point, count);
  KillingMoment moment(point, count);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, TrialAccess::open({storage, scene.run().string()}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto ledger,
                               events::Ledger::open(*storage, system_clock(), TrialAccess::run_info(*trial)));
  events::Recorder recorder(*trial, *storage, *ledger);
  const actions::RunContext run = watch::context_of_run(*trial, {});
  TRAINWARDEN_ASSIGN_OR_RETURN(auto subscriptions,
                               make_subscriptions(scene, run, [&](std::string_view reached) { moment.pass(reached); }));
  delivery::Courier courier(*ledger, std::move(subscriptions),
                            {.run_name = run.name, .run = run.path, .run_id = run.run_id});
  rules::EngineOptions options;
  options.keep_going = true;
  options.journal_storage = storage.get();
  rules::Engine engine(*trial, make_rules(), options);
  while (!engine.run_ended()) {
    TRAINWARDEN_RETURN_IF_ERROR(engine.poll());
    TRAINWARDEN_RETURN_IF_ERROR(recorder.poll());
  }
  engine.finish();
  TRAINWARDEN_RETURN_IF_ERROR(recorder.poll());
  courier.drain(kLongestDrain);
  TRAINWARDEN_RETURN_IF_ERROR(check_backlog(courier.backlog()));
  courier.stop();
  return ledger->status();
}

Status act(int argc, char** argv) {
  if (argc != 3 && argc != 5) return Status(Code::kInvalidArgument, "expected ROLE FOLDER [POINT COUNT]");
  const std::string role = argv[1];
  const ActScene scene(argv[2]);
  if (role == "watch") return watch_for_ever(scene, true);
  if (role == "dispatcher") return watch_for_ever(scene, false);
  if (role == "engine") return judge_for_ever(scene);
  if (role == "finish") return finish(scene);
  if (role == "parts" && argc == 5) return run_parts(scene, argv[3], std::atoi(argv[4]));
  return Status(Code::kInvalidArgument, "no such role: " + role);
}

}  // namespace
}  // namespace trainwarden::act

int main(int argc, char** argv) {
  const trainwarden::Status status = trainwarden::act::act(argc, argv);
  if (status.ok()) return 0;
  fmt::print(stderr, "act_child: {}\n", status.to_string());
  return 1;
}
