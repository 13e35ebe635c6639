// `trainwarden capture`: changes what a run captures while its training goes on, and waits for the workers' answers.
#include <chrono>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.h"
#include "core/base/pause.h"
#include "data/format/capture_events.h"
#include "data/format/collection_json.h"
#include "react/actions/request.h"
#include "read/trial/trial_access.h"
#include "store/storage/naming.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/capture_form.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/bill_view.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kAnswerLookInterval{20};
constexpr double kDefaultTimeoutSeconds = 30;

struct CaptureOptions {
  RunChoice run;
  CaptureForm form;
  double timeout_s = kDefaultTimeoutSeconds;
  bool show = false;
  bool json = false;
};

using Answers = std::map<std::string, format::CaptureAnswer>;  // by worker

struct CaptureOutcome {
  std::string key;
  Answers answers;
  std::vector<std::string> silent;  // living workers that have not answered in time

  bool good() const {
    const bool refused =
        std::any_of(answers.begin(), answers.end(), [](const auto& answer) { return !answer.second.accepted; });
    return silent.empty() && !answers.empty() && !refused;
  }
};

// What is captured now: collections with a policy, as the workers have reported.
std::vector<Collection> captured_collections(const Trial& trial) {
  std::vector<Collection> captured;
  for (const std::string& name : trial.collections()) {
    auto collection = trial.collection(name);
    if (collection.ok() && collection->save) captured.push_back(*std::move(collection));
  }
  return captured;
}

std::string interval_text(const SavePolicy& policy) {
  std::vector<std::string> parts;
  for (const Mode mode : kAllModes) {
    if (!policy[mode]) continue;
    std::string text = std::to_string(policy[mode]->save_interval);
    if (policy[mode]->end_step == 0) text = "-";
    if (!policy[mode]->save_steps.empty()) text += "+";
    parts.push_back(std::move(text));
  }
  const bool same = std::adjacent_find(parts.begin(), parts.end(), std::not_equal_to<>()) == parts.end();
  return same && !parts.empty() ? parts.front() : fmt::format("{}", fmt::join(parts, "/"));
}

std::string keep_text(const KeepForm& keep) {
  std::vector<std::string> forms;
  if (keep.values) forms.emplace_back("values");
  if (keep.statistics) forms.emplace_back("statistics");
  if (keep.histogram) forms.emplace_back("histogram");
  if (keep.hash) forms.emplace_back("hash");
  if (keep.shape) forms.emplace_back("shape");
  return fmt::format("{}", fmt::join(forms, ", "));
}

void show(const Trial& trial, bool as_json) {
  const std::vector<Collection> collections = captured_collections(trial);
  const std::vector<views::WorkerBill> bills = views::read_bills(trial);
  if (as_json) {
    OrderedJson bill_list = OrderedJson::array();
    for (const views::WorkerBill& bill : bills) bill_list.push_back(cli::json_of(bill));
    return print_json({{"run", run_name(trial.path())},
                       {"collections", format::collections_to_json(collections)},
                       {"bills", bill_list}});
  }
  Table table({{"COLLECTION"}, {"EVERY", Align::kRight}, {"KEPT AS"}});
  for (const Collection& collection : collections) {
    table.add_row({collection.name, interval_text(*collection.save), keep_text(collection.keep.value_or(KeepForm()))});
  }
  emit("{}", Lines{table.to_string()});
  print_bills(stdout, bills);
}

Answers answers_to(const std::string& key, const Trial& trial) {
  Answers answers;
  TrialAccess::visit_events(trial, [&](const std::string& worker, const journal::EventEntry& event) {
    if (event.kind != format::FrameKind::kEvent) return;
    const auto answer = format::decode_capture_answer(event.json);
    if (answer.ok() && *answer && (*answer)->key == key) answers[worker] = **answer;
  });
  return answers;
}

Result<std::string> put_request(format::CaptureRequest request, const Trial& trial) {
  request.unix_ns = system_clock().unix_ns();
  TRAINWARDEN_ASSIGN_OR_RETURN(request.key, storage::random_name());
  request.requested_by = "user";
  TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_same_run(trial));
  TRAINWARDEN_RETURN_IF_ERROR(actions::put_request(TrialAccess::location(trial).storage(), TrialAccess::identity(trial),
                                                   {format::RequestKind::kCapture, request.key},
                                                   format::encode_capture_request(request)));
  return request.key;
}

// Until every worker that lives has answered, or time is up.
Result<CaptureOutcome> await_answers(const std::string& key, Trial& trial, double timeout_s) {
  const std::int64_t start_ns = system_clock().steady_ns();
  CaptureOutcome outcome{.key = key};
  for (;;) {
    TRAINWARDEN_RETURN_IF_ERROR(trial.refresh());
    outcome.answers = answers_to(key, trial);
    outcome.silent = TrialAccess::living_workers(trial);
    std::erase_if(outcome.silent, [&](const std::string& worker) { return outcome.answers.contains(worker); });
    const double waited_s = static_cast<double>(system_clock().steady_ns() - start_ns) / 1e9;
    const bool settled = !outcome.answers.empty() || trial.state() != RunState::kRunning;
    if ((outcome.silent.empty() && settled) || waited_s >= timeout_s) return outcome;
    pause_for(kAnswerLookInterval, {});
  }
}

void print_outcome(const CaptureOutcome& outcome) {
  for (const auto& [worker, answer] : outcome.answers) {
    if (answer.accepted) {
      emit("{}: from step {} on\n", worker, answer.global_step);
    } else {
      emit("{}: refused: {}\n", worker, answer.error);
    }
  }
  for (const std::string& worker : outcome.silent) {
    emit("{}: no answer yet; it answers when its next step begins, and the request stays\n", worker);
  }
  if (outcome.answers.empty() && outcome.silent.empty()) {
    emit("no worker answered: none has begun to write, or the training has ended\n");
  }
}

void print_as_json(const CaptureOutcome& outcome, const Trial& trial) {
  OrderedJson workers = OrderedJson::array();
  for (const auto& [worker, answer] : outcome.answers) {
    OrderedJson json = {{"worker", worker}, {"accepted", answer.accepted}};
    if (answer.accepted) {
      json["step"] = answer.global_step;
    } else {
      json["error"] = answer.error;
    }
    workers.push_back(std::move(json));
  }
  print_json({{"run", run_name(trial.path())}, {"key", outcome.key}, {"workers", workers}, {"silent", outcome.silent}});
}

Status check_running(const Trial& trial) {
  if (trial.state() == RunState::kRunning) return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("the training of {} has ended ({}): nobody is there who could capture something else",
                            run_name(trial.path()), name(trial.state())));
}

Result<CaptureOutcome> change(const CaptureForm& form, Trial& trial, double timeout_s) {
  TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_writable(trial, "a request to its training"));
  TRAINWARDEN_RETURN_IF_ERROR(check_running(trial));
  TRAINWARDEN_ASSIGN_OR_RETURN(format::CaptureRequest request, make_request(form));
  TRAINWARDEN_RETURN_IF_ERROR(check_request(request, trial));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string key, put_request(std::move(request), trial));
  return await_answers(key, trial, timeout_s);
}

int act(const CaptureOptions& options) {
  if (options.form.asks_for_nothing() && !options.show) {
    return report_error(Status(Code::kInvalidArgument, "nothing to change was given; --show shows what is captured"));
  }
  const auto trial = options.run.open();
  if (!trial.ok()) return report_error(trial.status());
  if (options.form.asks_for_nothing()) {
    show(**trial, options.json);
    return kExitFine;
  }
  const auto outcome = change(options.form, **trial, options.timeout_s);
  if (!outcome.ok()) return report_error(outcome.status());
  if (options.json) {
    print_as_json(*outcome, **trial);
  } else {
    print_outcome(*outcome);
    if (options.show) show(**trial, false);
  }
  return outcome->good() ? kExitFine : kExitFailed;
}

}  // namespace

void add_capture(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<CaptureOptions>();
  CaptureOptions& o = *options;
  CLI::App& command =
      add_command(app, "capture", "Change what a training captures while it runs", options, action, act);
  command.group(kTrainGroup);
  add_run_choice(command, o.run);
  add_capture_form(command, o.form);
  command.add_flag("--show", o.show, "Show what is captured, and what it costs");
  command.add_option("--timeout", o.timeout_s, "How many seconds to wait for the workers' answers (default: 30)")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden capture first --include-collection gradients --save-interval 10",
                         "trainwarden capture first --include '^encoder' --keep statistics,histogram --budget 1%",
                         "trainwarden capture first --only --include-collection weights",
                         "trainwarden capture first --reset --show"});
}

}  // namespace trainwarden::cli
