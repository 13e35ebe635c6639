// `trainwarden phases`: what the wall time of a run's train steps was spent on.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "read/profile/step_phases.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

using profile::PhaseTime;
using profile::WorkerPhases;

constexpr std::size_t kMostWorkers = 8;  // with a column each

struct PhasesOptions {
  RunChoice run;
  bool json = false;
};

const PhaseTime* find_phase(const WorkerPhases& worker, const std::string& phase) {
  const auto found = std::find_if(worker.phases.begin(), worker.phases.end(),
                                  [&](const PhaseTime& time) { return time.phase == phase; });
  return found == worker.phases.end() ? nullptr : &*found;
}

// By their mean share over all workers, the largest first.
std::vector<std::string> phases_of(const std::vector<WorkerPhases>& workers) {
  std::map<std::string, double> shares;
  for (const WorkerPhases& worker : workers) {
    for (const PhaseTime& time : worker.phases) shares[time.phase] += time.share;
  }
  std::vector<std::string> phases;
  for (const auto& [phase, share] : shares) phases.push_back(phase);
  std::stable_sort(phases.begin(), phases.end(),
                   [&](const std::string& a, const std::string& b) { return shares[a] > shares[b]; });
  return phases;
}

std::string per_step(const WorkerPhases& worker, const PhaseTime& time) {
  const double steps = worker.steps > 0 ? worker.steps : static_cast<double>(worker.divided_steps);
  const double seconds = worker.seconds > 0 ? worker.seconds : worker.divided_seconds;
  return format_duration_ns(static_cast<std::int64_t>(1e9 * time.share * seconds / std::max(1.0, steps)));
}

std::string share_text(const PhaseTime* time) {
  return time == nullptr ? "" : fmt::format("{:.1f} %", 100 * time->share);
}

// Budgets leave steps out: what is known of few is said of all.
void print_divided(const WorkerPhases& worker) {
  if (worker.steps <= static_cast<double>(worker.divided_steps)) return;
  std::vector<std::string> exact;
  for (const PhaseTime& time : worker.phases) {
    if (time.exact) exact.push_back(time.phase);
  }
  emit("{}: {} of {:.0f} steps were divided; known of all: {}\n", worker.worker, worker.divided_steps, worker.steps,
       exact.empty() ? "nothing" : fmt::format("{}", fmt::join(exact, ", ")));
}

void print_one(const WorkerPhases& worker) {
  Table table({{"PHASE"}, {"SHARE", Align::kRight}, {"A STEP", Align::kRight}});
  for (const PhaseTime& time : worker.phases) table.add_row({time.phase, share_text(&time), per_step(worker, time)});
  emit("{}", Lines{table.to_string()});
}

void print_several(const std::vector<WorkerPhases>& workers) {
  std::vector<Column> columns = {{"PHASE"}};
  const std::size_t shown = std::min(workers.size(), kMostWorkers);
  for (std::size_t i = 0; i < shown; ++i) columns.push_back({workers[i].worker, Align::kRight});
  Table table(columns);
  for (const std::string& phase : phases_of(workers)) {
    std::vector<std::string> cells = {phase};
    for (std::size_t i = 0; i < shown; ++i) cells.push_back(share_text(find_phase(workers[i], phase)));
    table.add_row(cells);
  }
  emit("{}", Lines{table.to_string()});
  if (shown < workers.size()) emit("{} more workers: --json has all\n", workers.size() - shown);
}

OrderedJson worker_json(const WorkerPhases& worker) {
  OrderedJson phases = OrderedJson::array();
  for (const PhaseTime& time : worker.phases) {
    phases.push_back(
        {{"phase", time.phase}, {"share", json_number(time.share)}, {"seconds", json_number(time.seconds)}});
  }
  return {{"worker", worker.worker},
          {"steps", json_number(worker.steps)},
          {"seconds", json_number(worker.seconds)},
          {"divided_steps", worker.divided_steps},
          {"divided_seconds", json_number(worker.divided_seconds)},
          {"phases", std::move(phases)}};
}

int act(const PhasesOptions& options) {
  const auto trial = options.run.open();
  if (!trial.ok()) return report_error(trial.status());
  const auto workers = profile::step_phases(**trial);
  if (!workers.ok()) return report_error(workers.status());
  if (options.json) {
    OrderedJson list = OrderedJson::array();
    for (const WorkerPhases& worker : *workers) list.push_back(worker_json(worker));
    print_json({{"run", run_name((*trial)->path())}, {"workers", std::move(list)}});
  } else if (workers->empty()) {
    emit(stderr,
         "trainwarden: no train step of this run was divided into phases: those of PyTorch are, from their second "
         "step on\n");
  } else if (workers->size() == 1) {
    print_one(workers->front());
    print_divided(workers->front());
  } else {
    print_several(*workers);
    print_divided(workers->front());
  }
  return workers->empty() ? kExitFailed : kExitFine;
}

}  // namespace

void add_phases(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<PhasesOptions>();
  PhasesOptions& o = *options;
  CLI::App& command =
      add_command(app, "phases", "Show what the time of a run's train steps was spent on", options, action, act);
  command.group(kLookGroup);
  add_run_choice(command, o.run);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden phases first", "trainwarden phases first --json | jq '.workers[].phases'"});
}

}  // namespace trainwarden::cli
