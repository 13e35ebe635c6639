// `trainwarden diff`: where two runs differ, tensor by tensor.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "read/upkeep/run_difference.h"
#include "trainwarden/transfer.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/upkeep_commands.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/status_line.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

using upkeep::RunDifference;
using upkeep::TensorDifference;
using upkeep::ValueDifference;

struct DiffOptions {
  std::string a;
  std::string b;
  std::string runs;
  upkeep::DiffQuestion question;
  std::string steps;
  std::int64_t top = 20;
  bool json = false;
};

Result<upkeep::DiffQuestion> diff_question(const DiffOptions& options) {
  upkeep::DiffQuestion question = options.question;
  if (question.tolerance.equal_nan && question.tolerance.exact()) {
    return Status(Code::kInvalidArgument,
                  "--equal-nan goes with --rtol or --atol; without them bits are compared, and NaN with the same bits "
                  "is the same");
  }
  if (options.steps.empty()) return question;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<StepRange> ranges, parse_step_ranges(options.steps));
  if (ranges.size() != 1 || ranges[0].every != 1) {
    return Status(Code::kInvalidArgument,
                  fmt::format("--step takes one stretch of steps, as 0:1000, or one step, found \"{}\"",
                              printable(options.steps)));
  }
  question.first_step = ranges[0].first;
  if (ranges[0].end) question.end_step = *ranges[0].end;
  return question;
}

OrderedJson json_of_difference(const TensorDifference& tensor) {
  OrderedJson json = {{"tensor", tensor.tensor},
                      {"worker", tensor.worker},
                      {"compared", tensor.compared},
                      {"differing", tensor.differing},
                      {"by_statistics", tensor.by_statistics},
                      {"approximate", tensor.approximate},
                      {"only_a", tensor.only_a},
                      {"only_b", tensor.only_b},
                      {"unreadable", tensor.unreadable},
                      {"first_step", tensor.first_step},
                      {"max_abs", json_number(tensor.max_abs)},
                      {"max_rel", json_number(tensor.max_rel)},
                      {"max_ulp", tensor.max_ulp},
                      {"worst_step", tensor.worst_step},
                      {"first", nullptr}};
  if (!tensor.differs()) return json;
  const ValueDifference& first = tensor.at_first;
  json["first"] = {{"what", first.what},
                   {"elements", first.elements},
                   {"differing", first.differing},
                   {"element", first.first},
                   {"a", json_number(first.a)},
                   {"b", json_number(first.b)},
                   {"max_abs", json_number(first.max_abs)}};
  return json;
}

void print_difference_as_json(const std::string& a, const std::string& b, const RunDifference& difference) {
  OrderedJson tensors = OrderedJson::array();
  for (const TensorDifference& tensor : difference.tensors) tensors.push_back(json_of_difference(tensor));
  const bool is_unknown = difference.same() && difference.approximate() > 0;
  print_json({{"a", a},
              {"b", b},
              {"same", is_unknown ? OrderedJson() : OrderedJson(difference.same())},
              {"approximate", difference.approximate()},
              {"first_step", difference.first_step()},
              {"first_tensor", difference.first_step() < 0 ? OrderedJson() : OrderedJson(difference.tensors[0].tensor)},
              {"common_steps", difference.common_steps},
              {"compared_steps", difference.compared_steps},
              {"steps_only_a", difference.steps_only_a},
              {"steps_only_b", difference.steps_only_b},
              {"tensors_only_a", difference.tensors_only_a},
              {"tensors_only_b", difference.tensors_only_b},
              {"workers_only_a", difference.workers_only_a},
              {"workers_only_b", difference.workers_only_b},
              {"unreadable", difference.unreadable},
              {"tensors", tensors}});
}

std::string difference_in_words(const TensorDifference& tensor) {
  const ValueDifference& first = tensor.at_first;
  if (first.differing == 0) return first.what;
  std::string text = first.what.empty() ? "" : first.what + ": ";
  if (first.elements > 1 && first.what.empty()) {
    text += fmt::format("{} of {} elements, the first at {}; ", first.differing, first.elements, first.first);
  }
  return text + fmt::format("{} and {}", format_number(first.a), format_number(first.b));
}

void print_alone(const char* what, const std::string& run, const std::vector<std::string>& names) {
  if (names.empty()) return;
  constexpr std::size_t kMostNames = 5;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) list += (i == 0 ? "" : ", ") + names[i];
  emit("only in {}: {} {}{}: {}{}\n", run, names.size(), what, names.size() == 1 ? "" : "s", list,
       names.size() > kMostNames ? ", ..." : "");
}

void print_steps_alone(const std::string& run, const std::vector<std::int64_t>& steps) {
  if (steps.empty()) return;
  emit("only in {}: step{} {}\n", run, steps.size() == 1 ? "" : "s", format_steps(steps));
}

void print_difference_table(const RunDifference& difference, std::int64_t top) {
  Table table({{"TENSOR"},
               {"WORKER"},
               {"FIRST STEP", Align::kRight},
               {"STEPS", Align::kRight},
               {"MAX ABS", Align::kRight},
               {"MAX REL", Align::kRight},
               {"ULP", Align::kRight},
               {"AT THE FIRST"}});
  std::int64_t rows = 0;
  std::int64_t more = 0;
  for (const TensorDifference& tensor : difference.tensors) {
    if (!tensor.differs()) break;  // they come first
    if (top > 0 && rows >= top) {
      ++more;
      continue;
    }
    ++rows;
    table.add_row({tensor.tensor, tensor.worker, std::to_string(tensor.first_step),
                   fmt::format("{} of {}", tensor.differing + tensor.only_a + tensor.only_b,
                               tensor.compared + tensor.only_a + tensor.only_b),
                   format_number(tensor.max_abs), format_number(tensor.max_rel),
                   tensor.max_ulp == 0 ? "" : std::to_string(tensor.max_ulp), difference_in_words(tensor)});
  }
  if (!table.empty()) emit("\n{}", Lines{table.to_string()});
  if (more > 0) emit("... and {} more tensors that differ (--top 0 shows all)\n", more);
}

const char* same_in_words(const DiffOptions& options, const RunDifference& difference) {
  if (!options.question.tolerance.exact()) return "what both have is the same within the tolerance";
  return difference.approximate() > 0 ? "nothing is found to differ; what is approximate may, by its rounding"
                                      : "what both have is the same, bit for bit";
}

void print_difference(const DiffOptions& options, const std::string& a, const std::string& b,
                      const RunDifference& difference) {
  std::uint64_t differing = 0;
  std::uint64_t by_statistics = 0;
  for (const TensorDifference& tensor : difference.tensors) {
    differing += tensor.differs() ? 1 : 0;
    by_statistics += tensor.by_statistics;
  }
  emit("{} and {}: {} of {} common steps compared, {} tensors\n", a, b, difference.compared_steps,
       difference.common_steps, difference.tensors.size());
  print_steps_alone(a, difference.steps_only_a);
  print_steps_alone(b, difference.steps_only_b);
  print_alone("tensor", a, difference.tensors_only_a);
  print_alone("tensor", b, difference.tensors_only_b);
  print_alone("worker", a, difference.workers_only_a);
  print_alone("worker", b, difference.workers_only_b);
  if (by_statistics > 0) emit("{} times by their statistics alone: values were not kept\n", by_statistics);
  if (difference.approximate() > 0) {
    emit("{} times by approximate statistics: what differs by rounding alone is not told from what is the same\n",
         difference.approximate());
  }
  if (difference.unreadable > 0) emit("{} times one of the two could not be read\n", difference.unreadable);
  if (difference.first_step() >= 0) {
    const TensorDifference& first = difference.tensors.front();
    emit("first difference: step {}, {}: {}\n", first.first_step, first.tensor, difference_in_words(first));
    emit("{} of {} tensors differ\n", differing, difference.tensors.size());
    print_difference_table(difference, options.top);
  } else {
    emit("{}\n", same_in_words(options, difference));
  }
}

int act_diff(const DiffOptions& options) {
  const std::filesystem::path folder = runs_folder(options.runs);
  const auto a = locate_run(options.a, folder);
  if (!a.ok()) return report_error(a.status());
  const auto b = locate_run(options.b, folder);
  if (!b.ok()) return report_error(b.status());
  auto question = diff_question(options);
  if (!question.ok()) return report_error(question.status());
  StatusLine line(stderr, terminal_of(stderr));
  if (line.interactive()) {
    question->progress = [&](std::size_t done, std::size_t all) {
      line.show(fmt::format("{} of {} steps compared", done, all));
    };
  }
  const auto difference = upkeep::diff_runs(storage::Location(*a), storage::Location(*b), *question);
  line.clear();
  if (!difference.ok()) return report_error(difference.status());
  if (options.json) {
    print_difference_as_json(run_name(*a), run_name(*b), *difference);
  } else {
    print_difference(options, run_name(*a), run_name(*b), *difference);
  }
  if (difference->unreadable > 0) return kExitDataLost;
  return difference->same() ? kExitFine : kExitDiffers;
}

}  // namespace

void add_diff(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<DiffOptions>();
  DiffOptions& o = *options;
  CLI::App& command =
      add_command(app, "diff", "Compare two runs, tensor by tensor: the first step at which they differ", options,
                  action, act_diff);
  command.group(kUpkeepGroup);
  command.add_option("A", o.a, "Name of a run, or its path")->required()->type_name("");
  command.add_option("B", o.b, "The other run")->required()->type_name("");
  const auto add_number = [&](const char* name, double& number, const char* description) {
    command.add_option(name, number, description)->type_name("X")->check(CLI::NonNegativeNumber);
  };
  add_number("--rtol", o.question.tolerance.rtol,
             "The same when |a - b| <= atol + rtol * |b| (default: 0; with both 0, bit for bit)");
  add_number("--atol", o.question.tolerance.atol, "See --rtol (default: 0)");
  command.add_flag("--equal-nan", o.question.tolerance.equal_nan, "With a tolerance: NaN is the same as NaN");
  add_words(command, "--include", o.question.include,
            "Only tensors in whose name this PCRE2 pattern is found; several: any of them")
      ->type_name("PATTERN");
  command.add_option("--step", o.steps, "Only these global steps: FIRST:END, without END, or one")->type_name("A:B");
  command.add_flag("--first", o.question.first_only, "End at the first step at which they differ");
  command.add_option("--jobs", o.question.threads, "Steps that are compared at once (default: one for each CPU)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command.add_option("--top", o.top, "Rows of the table (default: 20; 0: all)")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  add_runs_option(command, o.runs);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden diff first second", "trainwarden diff first second --rtol 1e-5 --atol 1e-8",
                         "trainwarden diff first second --first --include weight",
                         "trainwarden diff before after --json | jq '.first_step, .first_tensor'"});
}

}  // namespace trainwarden::cli
