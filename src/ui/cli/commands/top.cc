// `trainwarden top`: one run on the whole terminal, while it trains.
#include <algorithm>
#include <cstdio>
#include <thread>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/process/signal_relay.h"
#include "read/trial/run_listing.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/top_facts.h"
#include "ui/cli/reports/top_frame.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/live_terminal.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kFrameInterval{250};
constexpr std::chrono::milliseconds kSignalInterval{50};
constexpr std::chrono::milliseconds kLineInterval{1000};

struct TopOptions {
  std::string run;
  std::string runs;
  bool once = false;
  bool plain = false;
  bool json = false;
};

// The runs that one may look at, and which of them is looked at.
struct RunList {
  std::vector<std::filesystem::path> runs;
  std::size_t chosen = 0;
};

// The run that was named; else the newest that is running, of none the newest.
Result<RunList> choose_runs(const TopOptions& options) {
  const std::filesystem::path folder = runs_folder(options.runs);
  if (!options.run.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto run, locate_run(options.run, folder));
    return RunList{{std::move(run)}, 0};
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto names, trial::list_runs(folder));
  RunList list;
  std::pair<bool, std::int64_t> best(false, -1);
  for (const std::string& name : names) {
    const auto trial = Trial::open(folder / name);
    if (!trial.ok()) continue;  // `ls` says which cannot be read
    const std::pair rank((*trial)->state() == RunState::kRunning, (*trial)->created_unix_ns());
    if (rank > best) {
      best = rank;
      list.chosen = list.runs.size();
    }
    list.runs.push_back(folder / name);
  }
  if (!list.runs.empty()) return list;
  return Status(Code::kNotFound, fmt::format("there is no run in {} yet; start one with `{} run -- PROGRAM`",
                                             folder.string(), typed_program()));
}

OrderedJson json_of(const LossFacts& loss) {
  return {{"name", loss.name},
          {"step", loss.last_step},
          {"last", json_number(loss.last)},
          {"lowest", loss.lowest ? json_number(*loss.lowest) : OrderedJson()}};
}

OrderedJson json_of(const HealthFacts& health) {
  return {{"collection", health.collection},
          {"tensors", health.tensors},
          {"left_out", health.left_out},
          {"step", health.step},
          {"elements", health.count},
          {"nan", health.nan_count},
          {"inf", health.inf_count},
          {"zeros", health.zero_count},
          {"largest", json_number(health.largest)},
          {"largest_of", health.largest_name}};
}

OrderedJson json_of(const ProcessUse& use) {
  return {{"pid", use.pid}, {"memory_bytes", use.memory_bytes}, {"threads", use.threads}};
}

void print_as_json(const TopFacts& facts) {
  const auto eta = facts.eta_seconds();
  OrderedJson losses = OrderedJson::array(), rules = OrderedJson::array(), health = OrderedJson::array();
  for (const LossFacts& loss : facts.losses) losses.push_back(json_of(loss));
  for (const RuleLine& rule : facts.rules) {
    rules.push_back({{"id", rule.id}, {"status", name(rule.status)}, {"words", rule.words}});
  }
  for (const HealthFacts& one : facts.health) health.push_back(json_of(one));
  print_json({{"run", facts.run},
              {"state", facts.state},
              {"running", facts.running},
              {"created_unix_ns", facts.created_unix_ns},
              {"last_unix_ns", facts.last_unix_ns},
              {"steps", facts.done_steps},
              {"total_steps", facts.total ? OrderedJson(*facts.total) : OrderedJson()},
              {"steps_per_second", json_number(facts.steps_per_second)},
              {"eta_seconds", eta ? OrderedJson(*eta) : OrderedJson()},
              {"losses", losses},
              {"rules", rules},
              {"tensors", health},
              {"process", facts.process ? json_of(*facts.process) : OrderedJson()},
              {"capture_share", facts.capture_share < 0 ? OrderedJson() : json_number(facts.capture_share)},
              {"events", facts.events}});
}

int print_once(const TopFacts& facts, const TopOptions& options) {
  if (options.json) {
    print_as_json(facts);
    return kExitFine;
  }
  const Terminal terminal = terminal_of(stdout);
  const TerminalSize size = terminal_size();
  const TopChoice choice{.keys = false};
  // Who reads a pipe reads UTF-8 when the locale does.
  const bool unicode = describe_terminal(true, 0, process_environment).unicode;
  emit("{}",
       Painted{top_frame(facts, choice, std::max(size.rows - 1, kTopRows), size.columns, unicode).to_lines(terminal)});
  return kExitFine;
}

// Nobody reads what we print any more.
bool top_reader_is_gone() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

// A line whenever there is a new step, one a second at most, until the run has ended.
int print_lines(TopGatherer& gatherer) {
  process::SignalRelay relay;
  std::string printed;
  while (true) {
    const TopFacts& facts = gatherer.facts();
    if (facts.place != printed) emit("{}\n", top_line(facts));
    printed = facts.place;
    std::fflush(stdout);
    if (!facts.running || top_reader_is_gone() || relay.wait_for_end(kLineInterval)) return kExitFine;
    if (const Status status = gatherer.refresh(); !status.ok()) return report_error(status);
  }
}

// The loop of the live view.
class LiveTop {
 public:
  LiveTop(RunList list, std::unique_ptr<TopGatherer> gatherer, LiveTerminal& terminal)
      : list_(std::move(list)), gatherer_(std::move(gatherer)), terminal_(terminal) {
    choice_.several_runs = list_.runs.size() > 1;
  }

  Status loop(process::SignalRelay& relay) {
    const bool unicode = terminal_of(stdout).unicode;
    while (!ended_ && terminal_.alive()) {
      const TerminalSize size = terminal_size();
      terminal_.show(top_frame(gatherer_->facts(), choice_, size.rows, size.columns, unicode));
      if (wait(relay)) continue;  // a key wants its answer at once
      if (ended_) break;
      TRAINWARDEN_RETURN_IF_ERROR(gatherer_->refresh());
    }
    return {};
  }

 private:
  // True when a key was pressed.
  bool wait(process::SignalRelay& relay) {
    for (auto waited = std::chrono::milliseconds(0); waited < kFrameInterval; waited += kSignalInterval) {
      if (const auto key = terminal_.wait_key(kSignalInterval)) {
        press(*key);
        return true;
      }
      if (relay.wait_for_end(std::chrono::milliseconds(0)) || !terminal_.alive()) {
        ended_ = true;
        return false;
      }
    }
    return false;
  }

  void press(Key key) {
    const std::size_t losses = std::max<std::size_t>(gatherer_->facts().losses.size(), 1);
    switch (key) {
      case Key::kQuit: ended_ = true; break;
      case Key::kUp: choice_.loss = (choice_.loss + losses - 1) % losses; break;
      case Key::kDown: choice_.loss = (choice_.loss + 1) % losses; break;
      case Key::kLeft: change_run(list_.runs.size() - 1); break;
      case Key::kRight: change_run(1); break;
    }
  }

  // A run that cannot be opened any more is passed over.
  void change_run(std::size_t by) {
    for (std::size_t tried = 1; tried < list_.runs.size(); ++tried) {
      list_.chosen = (list_.chosen + by) % list_.runs.size();
      auto gatherer = TopGatherer::open(list_.runs[list_.chosen]);
      if (!gatherer.ok()) continue;
      gatherer_ = *std::move(gatherer);
      choice_.loss = 0;
      return;
    }
  }

  RunList list_;
  std::unique_ptr<TopGatherer> gatherer_;
  LiveTerminal& terminal_;
  TopChoice choice_;
  bool ended_ = false;
};

int show_live(RunList list, std::unique_ptr<TopGatherer> gatherer) {
  process::SignalRelay relay;  // a signal ends the loop, and the terminal is given back as it was
  Status status;
  {
    auto terminal = LiveTerminal::open();
    if (!terminal.ok()) return report_error(terminal.status());
    status = LiveTop(std::move(list), std::move(gatherer), **terminal).loop(relay);
  }
  return status.ok() ? kExitFine : report_error(status);
}

int act(const TopOptions& options) {
  auto list = choose_runs(options);
  if (!list.ok()) return report_error(list.status());
  auto gatherer = TopGatherer::open(list->runs[list->chosen]);
  if (!gatherer.ok()) return report_error(gatherer.status());
  if (options.once || options.json) return print_once((*gatherer)->facts(), options);
  if (options.plain || !terminal_of(stdout).interactive) return print_lines(**gatherer);
  return show_live(*std::move(list), *std::move(gatherer));
}

}  // namespace

void add_top(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<TopOptions>();
  TopOptions& o = *options;
  CLI::App& command = add_command(app, "top", "Follow a run on the whole terminal: losses, rules, tensors, events",
                                  options, action, act);
  command.group(kLookGroup);
  command.add_option("RUN", o.run, "Name of a run, or its path (default: the newest that is running)")->type_name("");
  add_runs_option(command, o.runs);
  command.add_flag("--once", o.once, "Print one frame and end");
  command.add_flag("--plain", o.plain, "A line for each look with a new step, as it is for pipes");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden top", "trainwarden top first", "trainwarden top first --once",
                         "trainwarden top first --plain | grep -i fired", "trainwarden top --json | jq .eta_seconds"});
}

}  // namespace trainwarden::cli
