// `trainwarden operators`: which operators of the framework took the time of some steps.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "read/profile/call_family.h"
#include "read/profile/operator_table.h"
#include "read/transfer/operator_choice.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

using profile::CallFamily;
using profile::OperatorOrder;
using profile::OperatorRow;
using profile::OperatorTable;
using transfer::OperatorChoice;
using transfer::WorkerCalls;

struct OperatorsOptions {
  RunChoice run;
  std::string steps;
  std::vector<std::string> workers;
  std::string sort = "self";
  std::string of = "operators";
  std::size_t rows = 30;
  bool json = false;
};

struct OperatorsAnswer {
  OperatorTable table;
  std::size_t workers = 0;
  std::uint64_t damaged_steps = 0;
};

OperatorOrder order_of(const std::string& sort) {
  if (sort == "total") return OperatorOrder::kTotal;
  return sort == "calls" ? OperatorOrder::kCalls : OperatorOrder::kSelf;
}

Result<OperatorsAnswer> read_operators(Trial& trial, const OperatorChoice& choice, CallFamily family) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<WorkerCalls> found, find_operator_calls(trial, choice));
  OperatorsAnswer answer;
  answer.workers = found.size();
  for (const WorkerCalls& calls : found) {
    for (const std::int64_t step : calls.steps) {
      auto batch = trial.operators(calls.worker, step);
      if (batch.ok()) {
        answer.table.add(profile::calls_of(*std::move(batch), family), calls.worker);
      } else if (batch.status().code() == Code::kDataLoss) {
        ++answer.damaged_steps;
      } else {
        return batch.status();
      }
    }
  }
  return answer;
}

void print_operators_json(const Trial& trial, const OperatorsAnswer& answer, OperatorOrder order) {
  const OperatorTable& table = answer.table;
  OrderedJson rows = OrderedJson::array();
  for (const OperatorRow& row : table.rows(order)) {
    rows.push_back({{"name", row.name},
                    {"kind", name(row.kind)},
                    {"calls", row.calls},
                    {"total_ns", row.total_ns},
                    {"self_ns", row.self_ns},
                    {"mean_ns", row.mean_ns()},
                    {"longest_ns", row.longest_ns},
                    {"share", table.share(row)}});
  }
  print_json({{"run", run_name(trial.path())},
              {"workers", answer.workers},
              {"steps", table.batches()},
              {"damaged_steps", answer.damaged_steps},
              {"calls", table.calls()},
              {"lost_calls", table.lost_calls()},
              {"unlisted_calls", table.unlisted_calls()},
              {"wall_ns", table.wall_ns()},
              {"operators", rows}});
}

void print_operators(const OperatorsAnswer& answer, CallFamily family, OperatorOrder order, std::size_t most) {
  const OperatorTable& all = answer.table;
  emit("steps: {}, workers: {}, calls: {}, time: {}\n", all.batches(), answer.workers, all.calls(),
       format_duration_ns(all.wall_ns()));
  Table table({{family == CallFamily::kPython ? "FUNCTION" : "OPERATOR"},
               {"KIND"},
               {"CALLS", Align::kRight},
               {"SELF", Align::kRight},
               {"SHARE", Align::kRight},
               {"TOTAL", Align::kRight},
               {"MEAN", Align::kRight},
               {"LONGEST", Align::kRight}});
  const std::vector<OperatorRow> rows = all.rows(order);
  for (std::size_t i = 0; i < std::min(rows.size(), most); ++i) {
    const OperatorRow& row = rows[i];
    table.add_row({row.name, std::string(name(row.kind)), std::to_string(row.calls), format_duration_ns(row.self_ns),
                   fmt::format("{:.1f} %", 100 * all.share(row)), format_duration_ns(row.total_ns),
                   format_duration_ns(static_cast<std::int64_t>(row.mean_ns())), format_duration_ns(row.longest_ns)});
  }
  if (!table.empty()) emit("{}", Lines{table.to_string()});
  if (table.empty() && family == CallFamily::kPython) {
    emit("no stacks of Python were sampled in these steps; steps shorter than 10 ms are between most samples\n");
  }
  if (rows.size() > most) emit("and {} more; --rows 0 shows all\n", rows.size() - most);
  if (all.unlisted_calls() > 0) emit("calls of still more operators, in no row: {}\n", all.unlisted_calls());
  if (all.lost_calls() > 0) emit("calls that could not be kept or read: {}\n", all.lost_calls());
  if (answer.damaged_steps > 0) emit(stderr, "trainwarden: warning: damaged steps: {}\n", answer.damaged_steps);
}

int act(const OperatorsOptions& options) {
  OperatorChoice choice{options.workers, {}};
  if (!options.steps.empty()) {
    auto steps = parse_step_ranges(options.steps);
    if (!steps.ok()) return report_error(steps.status());
    choice.steps = *std::move(steps);
  }
  const auto trial = options.run.open();
  if (!trial.ok()) return report_error(trial.status());
  const CallFamily family = options.of == "python" ? CallFamily::kPython : CallFamily::kOperators;
  const auto answer = read_operators(**trial, choice, family);
  if (!answer.ok()) return report_error(answer.status());
  if (options.json) {
    print_operators_json(**trial, *answer, order_of(options.sort));
  } else {
    print_operators(*answer, family, order_of(options.sort), options.rows == 0 ? profile::kMaxTableRows : options.rows);
  }
  return answer->damaged_steps > 0 ? kExitDataLost : kExitFine;
}

}  // namespace

void add_operators(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<OperatorsOptions>();
  OperatorsOptions& o = *options;
  CLI::App& command = add_command(app, "operators", "Show which operators of the framework took the time of a step",
                                  options, action, act);
  command.group(kLookGroup);
  add_run_choice(command, o.run);
  command.add_option("--steps", o.steps, "Only these global steps: 100:110, ::10, 5,7")->type_name("STEPS");
  add_words(command, "--worker", o.workers, "Only this worker, rank-00000; several: any of them")->type_name("NAME");
  command.add_option("--sort", o.sort, "The largest first: own time, time with all that was called, or calls")
      ->type_name("BY")
      ->check(CLI::IsMember({"self", "total", "calls"}))
      ->capture_default_str();
  command.add_option("--of", o.of, "What was measured of operators, or sampled of Python's stacks")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"operators", "python"}))
      ->capture_default_str();
  command.add_option("--rows", o.rows, "How many of them; 0: all")->type_name("N")->capture_default_str();
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden operators first", "trainwarden operators first --steps 100:110 --sort total",
                         "trainwarden operators first --of python --sort total",
                         "trainwarden operators first --worker rank-00003 --json | jq '.operators[0]'"});
}

}  // namespace trainwarden::cli
