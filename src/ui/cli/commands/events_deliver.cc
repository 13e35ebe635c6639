// `trainwarden events deliver`: records what was missed and delivers what waits, outside of any watch.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/process/signal_relay.h"
#include "react/actions/action_kind.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/events_command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/action_choice.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/running/run_delivery.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/time_text.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kDeliveryLookInterval{50};

struct DeliverOptions {
  std::vector<std::string> runs;
  std::string folder;
  ActionChoice actions;
  std::string limit;  // a duration; empty: until nothing waits
  bool once = false;
  bool json = false;
};

// One of the runs, and what came of it.
struct RunWork {
  std::string typed;
  std::unique_ptr<RunDelivery> delivery;  // null when it could not begin
  Status status;
  std::mutex mutex;  // over the counts
  std::uint64_t delivered = 0;
  std::uint64_t died = 0;  // dead letters that are new
  bool done = false;
};
using Works = std::vector<std::unique_ptr<RunWork>>;

std::string outcome_text(const events::DeliveryRecord& record, const events::Event& event) {
  std::string text =
      fmt::format("event {} ({}) to {}, {} {}: {}", event.seq, printable(event.subject), printable(record.subscription),
                  printable(record.action), printable(record.place), name(record.state));
  if (!record.answer.empty()) text += fmt::format(", {}", printable(record.answer));
  if (!record.message.empty()) text += fmt::format(": {}", printable(record.message));
  if (record.state == events::DeliveryState::kWaiting) {
    text += fmt::format("; next try at {}", local_time_text(record.next_unix_ns));
  }
  return text;
}

// Called from the couriers' threads.
void take_outcome(RunWork& work, bool quiet, const events::DeliveryRecord& record, const events::Event& event) {
  const std::lock_guard lock(work.mutex);
  if (record.state == events::DeliveryState::kDelivered) ++work.delivered;
  if (record.state == events::DeliveryState::kDead) ++work.died;
  if (quiet) return;
  emit("{}: {}\n", work.typed, outcome_text(record, event));
  std::fflush(stdout);  // it may follow a run for days, into a file
}

void start(RunWork& work, const DeliverOptions& options, const ActionWiring& wiring) {
  const auto path = locate_run(work.typed, runs_folder(options.folder));
  if (!path.ok()) {
    work.status = path.status();
    return;
  }
  const bool quiet = options.json;
  auto delivery = RunDelivery::start(*path, wiring, options.actions.file.empty(),
                                     [&work, quiet](const events::DeliveryRecord& record, const events::Event& event) {
                                       take_outcome(work, quiet, record, event);
                                     });
  work.status = delivery.status();
  if (delivery.ok()) {
    work.delivery = std::move(delivery).value();
  } else if (work.status.code() == Code::kAlreadyExists) {
    work.status =
        Status(Code::kAlreadyExists,
               fmt::format("another process delivers this of {}; beside it, say with --on-fire or --actions what "
                           "it does not deliver ({})",
                           printable(work.typed), work.status.message()));
  }
}

// Returns when nothing waits any more nor, unless it is for once, may come, the time is over, or a signal came.
void deliver(Works& works, std::optional<std::chrono::milliseconds> limit, bool once, process::SignalRelay& signals) {
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    bool left = false;
    for (const auto& work : works) {
      if (work->delivery == nullptr || work->done) continue;
      const Status status = work->delivery->poll();
      if (!status.ok()) work->status = status;
      const bool more_may_come = !once && work->delivery->follows();
      work->done = !status.ok() || (!more_may_come && work->delivery->backlog().pending == 0);
      left = left || !work->done;
    }
    const bool late = limit && std::chrono::steady_clock::now() - begin >= *limit;
    if (!left || late || signals.wait_for_end(kDeliveryLookInterval)) return;
  }
}

// One after the other would wait for each in turn.
void stop_all(Works& works) {
  for (const auto& work : works) {
    if (work->delivery != nullptr) work->delivery->stop();
  }
}

bool is_fine(const RunWork& work) {
  return work.status.ok() && work.delivery->backlog().pending == 0 && work.delivery->unrecorded() == 0 &&
         work.died == 0 && work.delivery->unconfigured().empty();
}

OrderedJson json_of(const RunWork& work) {
  OrderedJson json = {{"run", work.typed}};
  if (!work.status.ok()) json["error"] = work.status.message();
  if (work.delivery == nullptr) return json;
  OrderedJson unconfigured = OrderedJson::array();
  for (const Unconfigured& entry : work.delivery->unconfigured()) {
    unconfigured.push_back({{"name", entry.subscribed.subscription},
                            {"action", entry.subscribed.action},
                            {"place", entry.subscribed.place},
                            {"config", entry.subscribed.config},
                            {"waiting", entry.waiting}});
  }
  OrderedJson notes = OrderedJson::array();
  for (const Status& note : work.delivery->notes()) notes.push_back(note.message());
  const delivery::Backlog backlog = work.delivery->backlog();
  json.update({{"events", work.delivery->events()},
               {"recorded", work.delivery->recorded()},
               {"subscriptions", work.delivery->subscriptions()},
               {"delivered", work.delivered},
               {"waiting", backlog.pending},
               {"unrecorded", work.delivery->unrecorded()},
               {"dead", backlog.dead},
               {"unconfigured", unconfigured},
               {"notes", notes}});
  return json;
}

void print_as_text(const RunWork& work) {
  if (!work.status.ok()) report_error(work.status);
  if (work.delivery == nullptr) return;
  const RunDelivery& delivery = *work.delivery;
  for (const Status& note : delivery.notes()) {
    emit(stderr, "trainwarden: warning: {}\n", note.message());
  }
  const delivery::Backlog backlog = delivery.backlog();
  emit("{}: {} events, {} of them new; {} delivered, {} waiting, {} dead letters\n", work.typed, delivery.events(),
       delivery.recorded(), work.delivered, backlog.pending, backlog.dead);
  if (delivery.unrecorded() > 0) {
    emit(
        "{}: {} more are still to be recorded by the process that keeps the ledger; deliver again, or without --once\n",
        work.typed, delivery.unrecorded());
  }
  for (const Unconfigured& entry : delivery.unconfigured()) {
    emit("{}: {} waiting for {} ({} {}), which was configured {}: name it with --actions or --on-fire\n", work.typed,
         entry.waiting, entry.subscribed.subscription, entry.subscribed.action, entry.subscribed.place,
         entry.subscribed.config.empty() ? "on a command line" : "in " + entry.subscribed.config);
  }
  if (delivery.subscriptions() == 0 && delivery.unconfigured().empty()) {
    emit("{}: nobody is subscribed; --actions FILE or --on-fire ACTION says who is\n", work.typed);
  }
}

int report(const DeliverOptions& options, const Works& works) {
  OrderedJson runs = OrderedJson::array();
  int exit_code = kExitFine;
  for (const auto& work : works) {
    if (options.json) {
      runs.push_back(json_of(*work));
    } else {
      print_as_text(*work);
    }
    if (!is_fine(*work) && exit_code == kExitFine) exit_code = kExitFailed;
    if (!work->status.ok()) exit_code = std::max(exit_code, exit_code_of(work->status));
  }
  if (options.json) print_json({{"runs", runs}});
  return exit_code;
}

int act(const DeliverOptions& options) {
  std::optional<std::chrono::milliseconds> limit;
  if (!options.limit.empty()) {
    const auto parsed = actions::parse_duration(options.limit);
    if (!parsed.ok()) return report_error(parsed.status().with_context("--for"));
    limit = *parsed;
  }
  const auto wiring = options.actions.wiring(SkipStep::kAllowed);
  if (!wiring.ok()) return report_error(wiring.status());
  process::SignalRelay signals;  // before the couriers' threads
  Works works;
  for (const std::string& run : options.runs) {
    works.push_back(std::make_unique<RunWork>());
    works.back()->typed = run;
    start(*works.back(), options, *wiring);
  }
  deliver(works, limit, options.once, signals);
  stop_all(works);
  return report(options, works);
}

}  // namespace

void add_events_deliver(CLI::App& events, CommandAction& action) {
  auto options = std::make_shared<DeliverOptions>();
  DeliverOptions& o = *options;
  CLI::App& command =
      add_command(events, "deliver", "Record what was missed, and deliver until nothing waits", options, action, act);
  add_words(command, "RUN", o.runs, "Names of runs, or their paths")->required()->type_name("");
  add_runs_option(command, o.folder);
  add_action_choice(command, o.actions);
  command.add_option("--for", o.limit, "Leave off after so long, as 30s or 10m (default: when nothing waits any more)")
      ->type_name("DURATION");
  command.add_flag("--once", o.once,
                   "Beside a process that keeps the ledger: stop when nothing waits, not when that process ends");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden events deliver first", "trainwarden events deliver first second --for 10m",
                         "trainwarden events deliver first --actions actions.toml",
                         "trainwarden events deliver first --on-fire file:path=alerts.jsonl"});
}

}  // namespace trainwarden::cli
