// `trainwarden plot`: numbers over steps, as lines on the terminal.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/reports/plot_series.h"
#include "ui/cli/terminal/characters.h"
#include "ui/cli/terminal/chart.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/live_terminal.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

constexpr int kRows = 20;

struct PlotOptions {
  RunChoice run;
  std::vector<std::string> tensors;
  std::string of;
  std::string mode;
  std::string worker;
  std::string x = "step";
  std::string color = "auto";
  double smooth = 0;
  int width = 0;
  int height = 0;
  bool log = false;
  bool json = false;

  PlotQuestion question() const {
    return {.of = of, .mode = parse_mode(mode), .worker = worker, .smooth = smooth, .by_time = x == "time"};
  }
};

OrderedJson points_as_json(const PlottedSeries& series) {
  OrderedJson points = OrderedJson::array();
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    points.push_back({{"step", series.points[i].step},
                      {"unix_ns", series.points[i].unix_ns},
                      {"value", json_number(series.points[i].value)},
                      {"drawn", json_number(series.drawn[i].y)}});
  }
  return points;
}

void print_as_json(const PlotOptions& options, const Trial& trial, const std::vector<PlottedSeries>& all) {
  OrderedJson list = OrderedJson::array();
  for (const PlottedSeries& series : all) {
    list.push_back({{"tensor", series.tensor},
                    {"of", name(series.number)},
                    {"mode", series.mode ? OrderedJson(trainwarden::name(*series.mode)) : OrderedJson()},
                    {"worker", series.worker},
                    {"count", series.all.count},
                    {"min", json_number(series.all.min)},
                    {"max", json_number(series.all.max)},
                    {"last", json_number(series.all.last)},
                    {"nan", series.all.nan},
                    {"inf", series.all.positive_inf + series.all.negative_inf},
                    {"unreadable", series.unreadable},
                    {"points", points_as_json(series)}});
  }
  print_json({{"run", run_name(trial.path())}, {"smooth", options.smooth}, {"series", list}});
}

std::string odd_text(const views::SeriesSummary& all) {
  std::string text;
  if (all.nan > 0) text += fmt::format("  NaN {}", all.nan);
  if (all.positive_inf + all.negative_inf > 0) text += fmt::format("  Inf {}", all.positive_inf + all.negative_inf);
  return text;
}

// One line for each series: what stands for it in the chart, its name, its numbers.
void put_legend(const std::vector<PlottedSeries>& all, const ChartLook& look, Screen& screen) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PlottedSeries& series = all[i];
    const int row = static_cast<int>(i);
    const Ink ink = series_ink(row);
    screen.put(row, 0, look.ink == ChartInk::kBraille ? "⠤⠤" : std::string(1, letter_of(i)), ink);
    const std::string numbers = fmt::format("last {}  min {}  max {}  steps {}{}", format_number(series.all.last),
                                            format_number(series.all.min), format_number(series.all.max),
                                            series.all.count, odd_text(series.all));
    const int room = std::max(8, screen.columns() - static_cast<int>(numbers.size()) - 5);
    const std::string title = printable(title_of(series));
    const bool is_cut = text_cells(title) > room;
    const int end = screen.put(row, 3, title, ink, is_cut ? room - 1 : room);
    if (is_cut) screen.put(row, end, look.ink == ChartInk::kBraille ? "…" : "~", ink);
    screen.put_right(row, screen.columns(), numbers);
  }
}

// Dots tell series apart by colour alone, so without colours several are written in letters.
ChartLook look_of(const PlotOptions& options, const Terminal& terminal, std::size_t series) {
  const bool dots = terminal.unicode && (series == 1 || terminal.colors != ColorDepth::kNone);
  return {dots ? ChartInk::kBraille : ChartInk::kLetters, options.log};
}

Terminal plot_terminal(const PlotOptions& options) {
  Terminal terminal = terminal_of(stdout);
  // Who reads a pipe reads UTF-8 when the locale does.
  terminal.unicode = describe_terminal(true, 0, process_environment).unicode;
  if (options.color == "never") terminal.colors = ColorDepth::kNone;
  if (options.color == "always" && terminal.colors == ColorDepth::kNone) terminal.colors = ColorDepth::k256;
  return terminal;
}

void print_chart(const PlotOptions& options, const std::vector<PlottedSeries>& all) {
  const Terminal terminal = plot_terminal(options);
  const ChartLook look = look_of(options, terminal, all.size());
  const int legend = static_cast<int>(all.size());
  const int columns = options.width > 0 ? options.width : terminal.columns;
  const int least = terminal.interactive ? std::min(kRows, terminal_size().rows - 2 - legend) : kRows;
  const int rows = options.height > 0 ? options.height : std::max(6, least);
  std::vector<ChartSeries> series;
  for (std::size_t i = 0; i < all.size(); ++i) series.push_back({title_of(all[i]), letter_of(i), all[i].drawn});
  Screen screen(legend + rows, columns);
  put_legend(all, look, screen);
  const std::string x_title = options.x == "time" ? "seconds since the start" : "global step";
  draw_chart(series, look, x_title, {legend, 0, rows, columns}, screen);
  emit("{}", Painted{screen.to_lines(terminal)});
}

int act(const PlotOptions& options) {
  auto trial = options.run.open();
  if (!trial.ok()) return report_error(trial.status());
  const std::filesystem::path path = (*trial)->path();
  views::OpenRun run(run_name(path), *std::move(trial));
  const auto use = run.use();
  if (!use.ok()) return report_error(use.status());
  const auto series = plotted_series(*use, options.tensors, options.question());
  if (!series.ok()) return report_error(series.status());
  if (options.json) {
    print_as_json(options, use->trial(), *series);
  } else {
    print_chart(options, *series);
  }
  for (const PlottedSeries& one : *series) {
    if (one.unreadable == 0) continue;
    emit(stderr, "trainwarden: {} steps of {} are damaged and left out\n", one.unreadable, one.tensor);
    return kExitDataLost;
  }
  return kExitFine;
}

}  // namespace

void add_plot(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<PlotOptions>();
  PlotOptions& o = *options;
  CLI::App& command =
      add_command(app, "plot", "Draw numbers of tensors over steps, as lines on the terminal", options, action, act);
  command.group(kLookGroup);
  add_run_choice(command, o.run);
  add_words(command, "TENSOR", o.tensors, "Names of tensors; `trainwarden tensors RUN` lists them")
      ->required()
      ->type_name("");
  command
      .add_option("--of", o.of,
                  "Which number: scalar, min, max, mean, std, l2, abs_max, nan_count, ... (default: "
                  "what was kept)")
      ->type_name("NUMBER");
  command.add_option("--mode", o.mode, "Steps of this mode alone (default: a line for each)")
      ->type_name("MODE")
      ->check(CLI::IsMember({"train", "eval", "predict"}, CLI::ignore_case));
  command.add_option("--worker", o.worker, "Of this worker, rank-00000 (default: the first that has it)")
      ->type_name("NAME");
  command.add_flag("--log", o.log, "Logarithms of the numbers; what is not above zero is marked below");
  command.add_option("--smooth", o.smooth, "How much each number takes from those before it, from 0 to 0.999")
      ->type_name("F")
      ->check(CLI::Range(0.0, 0.999).description(""));
  command.add_option("--x", o.x, "Over global steps or time: step, time (default: step)")
      ->type_name("X")
      ->check(CLI::IsMember({"step", "time"}));
  command.add_option("--width", o.width, "Columns (default: the terminal's)")
      ->type_name("N")
      ->check(CLI::Range(20, 1000).description(""));
  command.add_option("--height", o.height, "Rows of the chart (default: 20, or what the terminal has)")
      ->type_name("N")
      ->check(CLI::Range(4, 500).description(""));
  command.add_option("--color", o.color, "Colours (default: auto, on a terminal)")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden plot first CrossEntropyLoss_output_0",
                         "trainwarden plot first gradient/fc0.weight gradient/fc1.weight --of l2 --log",
                         "trainwarden plot first loss --smooth 0.9 --x time --mode train",
                         "trainwarden plot first loss --json | jq '.series[0].last'"});
}

}  // namespace trainwarden::cli
