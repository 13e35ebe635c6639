// `trainwarden events redrive` and `events drop`: what is to become of dead letters.
#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "data/format/delivery_request.h"
#include "react/actions/request.h"
#include "react/delivery/dead_letters.h"
#include "store/storage/location.h"
#include "store/storage/naming.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/events_command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/event_scope.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/event_view.h"
#include "ui/cli/running/job_keeper.h"
#include "ui/cli/terminal/output.h"
#include "ui/views/event_log.h"
#include "work/job_events/event_folder.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::cli {
namespace {

using delivery::LetterDecision;
using Letters = std::vector<events::DeliveryRecord>;

constexpr std::chrono::milliseconds kRedriveLookInterval{50};

struct LetterOptions {
  LetterDecision decision = LetterDecision::kRedrive;
  EventScope place;
  delivery::LetterChoice letters;
  double timeout_s = 10;
  bool json = false;

  bool redrive() const { return decision == LetterDecision::kRedrive; }
  bool all() const { return letters.subscription.empty() && letters.seq == 0; }
};

// What came of it.
struct Decided {
  Letters letters;
  std::string request;  // its key, when another process has carried it out
};

Status no_such_letter(const LetterOptions& options) {
  const std::string of_event = options.letters.seq == 0 ? "" : fmt::format(" of event {}", options.letters.seq);
  const std::string at = options.letters.subscription.empty()
                             ? ""
                             : fmt::format(" at subscription \"{}\"", printable(options.letters.subscription));
  return Status(Code::kNotFound,
                fmt::format("there is no dead letter{}{}; `{} events deliveries {} --dead` lists those "
                            "that there are",
                            of_event, at, typed_program(), printable(options.place.typed())));
}

Result<std::string> ask_the_keeper(storage::Storage& storage, const journal::RunInfo& run,
                                   const LetterOptions& options) {
  format::DeliveryRequest request;
  request.kind = options.redrive() ? format::DeliveryRequest::Kind::kRedrive : format::DeliveryRequest::Kind::kDrop;
  request.subscription = options.letters.subscription;
  request.seq = options.letters.seq;
  request.requested_by = "user";
  request.unix_ns = system_clock().unix_ns();
  TRAINWARDEN_ASSIGN_OR_RETURN(request.key, storage::random_name());
  TRAINWARDEN_RETURN_IF_ERROR(actions::put_request(storage, journal::run_identity(run),
                                                   {format::RequestKind::kDelivery, request.key},
                                                   format::encode_delivery_request(request)));
  return request.key;
}

// True once none of the letters is the one that it was.
Result<bool> is_answered(views::EventLog& log, const LetterOptions& options, const Letters& letters) {
  TRAINWARDEN_RETURN_IF_ERROR(log.refresh().status());
  std::set<std::int64_t> wanted;
  for (const events::DeliveryRecord& letter : letters) wanted.insert(letter.unix_ns);
  const Letters dead = delivery::dead_letters(log.contents().deliveries, options.letters);
  return std::none_of(dead.begin(), dead.end(),
                      [&](const events::DeliveryRecord& letter) { return wanted.count(letter.unix_ns) != 0; });
}

// False while another process keeps the ledger.
Result<bool> decide_here(storage::Storage& storage, const journal::RunInfo& run, const LetterOptions& options,
                         const Letters& letters) {
  const auto ledger = events::Ledger::open(storage, system_clock(), run);
  if (ledger.status().code() == Code::kAlreadyExists) return false;
  TRAINWARDEN_RETURN_IF_ERROR(ledger.status());
  delivery::decide(**ledger, letters, options.decision);
  TRAINWARDEN_RETURN_IF_ERROR((*ledger)->status());
  return true;
}

// Here, or by who keeps the ledger. That process may end without having seen the request: then the letters are decided
// about here.
Status have_decided(views::EventLog& log, const storage::Location& run, const LetterOptions& options,
                    Decided& decided) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const journal::RunInfo info, journal::read_run(run.storage()));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.timeout_s);
  while (true) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool decided_here, decide_here(run.storage(), info, options, decided.letters));
    if (decided_here) {
      decided.request.clear();
      return {};
    }
    if (decided.request.empty()) {
      TRAINWARDEN_ASSIGN_OR_RETURN(decided.request, ask_the_keeper(run.storage(), info, options));
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool answered, is_answered(log, options, decided.letters));
    if (answered) return {};
    if (std::chrono::steady_clock::now() > deadline) {
      return Status(Code::kDeadlineExceeded,
                    fmt::format("the process that keeps the ledger of this run has not answered within {:g} s; the "
                                "request stays, and who keeps the ledger next takes it up",
                                options.timeout_s));
    }
    std::this_thread::sleep_for(kRedriveLookInterval);
  }
}

Result<Decided> decide(const storage::Location& run, const LetterOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto log, views::EventLog::open(run));
  Decided decided{delivery::dead_letters(log->contents().deliveries, options.letters), ""};
  if (decided.letters.empty()) {
    if (options.all()) return decided;
    return no_such_letter(options);
  }
  TRAINWARDEN_RETURN_IF_ERROR(have_decided(*log, run, options, decided));
  return decided;
}

void print_as_json(const std::filesystem::path& run, const LetterOptions& options, const Decided& decided) {
  OrderedJson letters = OrderedJson::array();
  for (const events::DeliveryRecord& letter : decided.letters) {
    letters.push_back({{"subscription", letter.subscription}, {"seq", letter.seq}, {"key", letter.key}});
  }
  OrderedJson document = options.place.head(run);
  document.update({{"decision", options.redrive() ? "redrive" : "drop"},
                   {"request", decided.request.empty() ? OrderedJson() : OrderedJson(decided.request)},
                   {"letters", letters}});
  print_json(document);
}

void print_as_text(const LetterOptions& options, const Decided& decided) {
  const std::size_t count = decided.letters.size();
  if (count == 0) {
    emit("there are no dead letters in {}\n", options.place.typed());
    return;
  }
  const char* noun = count == 1 ? "dead letter" : "dead letters";
  if (!options.redrive()) {
    emit("{} {} dropped\n", count, noun);
  } else if (options.place.all_jobs) {
    emit("{} {} being tried anew\n", count, noun);
  } else if (decided.request.empty()) {
    emit("{} {} to be tried anew: `{} events deliver {}`, or the next that watches this run, delivers\n", count, noun,
         typed_program(), options.place.typed());
  } else {
    emit("{} {} being tried anew by the process that keeps the ledger\n", count, noun);
  }
}

// Nobody may deliver the events of jobs now: the jobs that the letters are of bring somebody back.
Status deliver_redriven(const LetterOptions& options, const std::filesystem::path& found, const Decided& decided) {
  if (!options.place.all_jobs || !options.redrive()) return {};
  const std::filesystem::path jobs = found.parent_path();
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto log, views::EventLog::open(found));
  for (const events::DeliveryRecord& letter : decided.letters) {
    const auto& data = log->contents().events.at(letter.seq - 1).data;
    const std::string job = data.value("TrainingJobName", std::string());
    if (jobs::is_job_name(job)) TRAINWARDEN_RETURN_IF_ERROR(job_events::EventFolder(jobs).markers().enter(job));
  }
  return ensure_job_deliverer(jobs);
}

int act(const LetterOptions& options) {
  const auto run = options.place.locate();
  if (!run.ok()) return report_error(run.status());
  const auto decided = decide(*run, options);
  if (!decided.ok()) return report_error(decided.status());
  if (const Status status = deliver_redriven(options, *run, *decided); !status.ok()) return report_error(status);
  if (options.json) {
    print_as_json(*run, options, *decided);
  } else {
    print_as_text(options, *decided);
  }
  return kExitFine;
}

CLI::App& add_letter_command(CLI::App& events, const char* name, const char* summary, LetterDecision decision,
                             CommandAction& action) {
  auto options = std::make_shared<LetterOptions>();
  options->decision = decision;
  LetterOptions& o = *options;
  CLI::App& command = add_command(events, name, summary, options, action, act);
  add_event_scope(command, o.place);
  command.add_option("--subscription", o.letters.subscription, "Only dead letters of this subscription")
      ->type_name("NAME");
  command.add_option("--event", o.letters.seq, "Only the dead letter of the event with this number")
      ->type_name("SEQ")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--timeout", o.timeout_s,
                  "How many seconds to wait for the process that keeps the ledger, if there is one (default: 10)")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  add_json_flag(command, o.json);
  return command;
}

}  // namespace

void add_events_redrive(CLI::App& events, CommandAction& action) {
  CLI::App& command =
      add_letter_command(events, "redrive", "Have dead letters tried anew", LetterDecision::kRedrive, action);
  set_examples(command,
               {"trainwarden events redrive first", "trainwarden events redrive first --subscription ops --event 12",
                "trainwarden events redrive --all-jobs"});
}

void add_events_drop(CLI::App& events, CommandAction& action) {
  CLI::App& command =
      add_letter_command(events, "drop", "Give dead letters up for good", LetterDecision::kDrop, action);
  set_examples(command,
               {"trainwarden events drop first --subscription ops", "trainwarden events drop first --event 12"});
}

}  // namespace trainwarden::cli
