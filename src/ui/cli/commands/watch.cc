// `trainwarden watch`: judges a run while it is written, and stops it when that was asked for.
#include <fmt/format.h>

#include "core/process/signal_relay.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/action_choice.h"
#include "ui/cli/options/known_rules.h"
#include "ui/cli/options/rule_choice.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/rule_report.h"
#include "ui/cli/running/follow_up.h"
#include "ui/cli/running/watch_view.h"
#include "work/launch/judging.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kLookInterval{50};

struct WatchCommand {
  RunChoice run;
  RuleChoice rules;
  ActionChoice actions;
  bool wait = false;
  bool json = false;
};

// With --wait the run need not be there yet; its name stands for the folder that it will have.
Result<std::filesystem::path> run_to_watch(const WatchCommand& options) {
  auto found = options.run.locate();
  if (found.ok() || !options.wait) return found;
  const std::string& text = options.run.run;
  const bool is_path = text.find('/') != std::string::npos;
  return is_path ? std::filesystem::path(text) : runs_folder(options.run.runs) / text;
}

void print_result(const std::filesystem::path& run, const launch::JudgingResult& result, bool as_json) {
  if (as_json) {
    OrderedJson document = {{"run", run_name(run)},
                            {"journal", result.journal},
                            {"run_ended", result.run_ended},
                            {"stop_requested", result.stop_requested},
                            {"deliveries", {{"pending", result.backlog.pending}, {"dead", result.backlog.dead}}}};
    document.update(cli::json_of(result.report));
    print_json(document);
  } else {
    print_report(stdout, result.report);
  }
}

int act(const WatchCommand& options) {
  auto rules = options.rules.create_some();
  if (!rules.ok()) return report_error(rules.status());
  auto wiring = options.actions.wiring(SkipStep::kRefused);
  if (!wiring.ok()) return report_error(wiring.status());
  const std::vector<std::string> rule_ids = rules::rule_ids(*rules);
  const Status named = check_rules_of_actions(*wiring, rule_ids);
  if (!named.ok()) return report_error(named);
  const auto run = run_to_watch(options);
  if (!run.ok()) return report_error(run.status());

  process::SignalRelay relay;  // before the thread that judges
  WatchView view(stderr, Chatter::kProgress);
  const bool asks_training = wiring->asks_training();
  const watch::Subscribe subscribe = follow_up(std::move(wiring).value(), rule_ids);
  launch::Judging judging({*run, std::move(rules).value(), options.rules.mute, subscribe, asks_training}, view);
  while (!judging.done() && !relay.wait_for_end(kLookInterval)) {
  }
  const launch::JudgingResult result = judging.result();
  if (!result.status.ok()) return report_error(result.status);
  print_result(*run, result, options.json);
  print_backlog(*run, result.backlog);
  return exit_code_of(result.report);
}

}  // namespace

void add_watch(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<WatchCommand>();
  WatchCommand& o = *options;
  CLI::App& command =
      add_command(app, "watch", "Judge a run while it is written; Ctrl-C leaves it alone", options, action, act);
  command.group(kJudgeGroup);
  add_run_choice(command, o.run);
  add_rule_choice(command, o.rules);
  add_action_choice(command, o.actions);
  command.add_flag("--wait", o.wait, "Wait for the run to appear");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden watch first --rules default",
                         "trainwarden watch first --rule ExplodingTensor:only_nan=true --on-fire stop",
                         "trainwarden watch first --rules default --actions actions.toml",
                         "trainwarden watch next --wait --rule LossNotDecreasing --json"});
}

}  // namespace trainwarden::cli
