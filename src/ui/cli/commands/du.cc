// `trainwarden du`: what runs weigh, and of one run what weighs most in it.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "read/upkeep/weight.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/upkeep_commands.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/picture.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

using upkeep::Weight;

constexpr int kWeightBarWidth = 12;

struct DuOptions {
  RunsChoice runs;
  std::int64_t top = 20;
  bool json = false;
};

double share_of(std::uint64_t bytes, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(all);
}

OrderedJson json_of_weights(const std::vector<Weight>& weights, std::uint64_t all) {
  OrderedJson list = OrderedJson::array();
  for (const Weight& weight : weights) {
    list.push_back({{"name", weight.name},
                    {"bytes", weight.bytes},
                    {"share", share_of(weight.bytes, all)},
                    {"records", weight.records},
                    {"steps", weight.steps}});
  }
  return list;
}

// The columns of numbers differ from list to list: a kind of frames has no steps of its own.
struct WeightColumns {
  const char* name;
  const char* records = nullptr;
  const char* steps = nullptr;
};

void print_weights(const WeightColumns& columns, const std::vector<Weight>& weights, std::uint64_t all,
                   std::size_t most) {
  if (weights.empty()) return;
  const Terminal terminal = terminal_of(stdout);
  std::vector<Column> titles = {{columns.name}, {"BYTES", Align::kRight}, {"SHARE", Align::kRight}};
  if (columns.records != nullptr) titles.push_back({columns.records, Align::kRight});
  if (columns.steps != nullptr) titles.push_back({columns.steps, Align::kRight});
  if (terminal.interactive) titles.push_back({""});
  Table table(titles);
  const std::size_t shown = std::min(weights.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    const Weight& weight = weights[i];
    const double share = share_of(weight.bytes, all);
    std::vector<std::string> row = {weight.name, format_bytes(weight.bytes), fmt::format("{:.1f} %", 100 * share)};
    if (columns.records != nullptr) row.push_back(std::to_string(weight.records));
    if (columns.steps != nullptr) row.push_back(std::to_string(weight.steps));
    if (terminal.interactive) row.push_back(render_bar(std::min(share, 1.0), kWeightBarWidth, terminal));
    table.add_row(std::move(row));
  }
  emit("\n{}", Lines{table.to_string()});
  if (shown < weights.size()) emit("... and {} lighter ones (--top 0 shows all)\n", weights.size() - shown);
}

int weigh_one(const std::filesystem::path& path, const DuOptions& options) {
  const auto run = upkeep::weigh(storage::Location(path));
  if (!run.ok()) return report_error(run.status());
  if (options.json) {
    print_json({{"run", run_name(path)},
                {"recorder", run->recorder},
                {"bytes", run->bytes},
                {"files", run->files},
                {"places", json_of_weights(run->places, run->bytes)},
                {"journals", json_of_weights(run->journals, run->bytes)},
                {"kinds", json_of_weights(run->kinds, run->bytes)},
                {"collections", json_of_weights(run->collections, run->bytes)},
                {"tensors", json_of_weights(run->tensors, run->bytes)}});
    return kExitFine;
  }
  const std::size_t most = options.top > 0 ? static_cast<std::size_t>(options.top) : run->tensors.size() + 100;
  emit("{}  {} in {} file{}\n", run_name(path), format_bytes(run->bytes), run->files, run->files == 1 ? "" : "s");
  print_weights({"PLACE", "FILES"}, run->places, run->bytes, most);
  print_weights({"JOURNAL", "FRAMES", "STEPS"}, run->journals, run->bytes, most);
  print_weights({"KIND", "FRAMES"}, run->kinds, run->bytes, most);
  print_weights({"COLLECTION", "RECORDS", "STEPS"}, run->collections, run->bytes, most);
  print_weights({"TENSOR", "RECORDS", "STEPS"}, run->tensors, run->bytes, most);
  return kExitFine;
}

int weigh_many(const std::vector<std::filesystem::path>& paths, const DuOptions& options) {
  std::vector<Weight> runs;
  std::uint64_t all = 0;
  for (const std::filesystem::path& path : paths) {
    const storage::Location location(path);
    const auto weight = upkeep::weigh_files(location.storage());
    if (!weight.ok()) return report_error(weight.status());
    runs.push_back({run_name(path), weight->bytes, weight->files, 0});
    all += weight->bytes;
  }
  std::stable_sort(runs.begin(), runs.end(), [](const Weight& a, const Weight& b) { return a.bytes > b.bytes; });
  if (options.json) {
    OrderedJson list = OrderedJson::array();
    for (const Weight& run : runs) {
      list.push_back(
          {{"run", run.name}, {"bytes", run.bytes}, {"share", share_of(run.bytes, all)}, {"files", run.records}});
    }
    print_json({{"bytes", all}, {"runs", list}});
    return kExitFine;
  }
  emit("{} run{}  {}\n", runs.size(), runs.size() == 1 ? "" : "s", format_bytes(all));
  print_weights({"RUN", "FILES"}, runs, all, options.top > 0 ? static_cast<std::size_t>(options.top) : runs.size());
  return kExitFine;
}

int act_du(const DuOptions& options) {
  const auto paths = options.runs.locate();
  if (!paths.ok()) return report_error(paths.status());
  const bool one_named = options.runs.runs.size() == 1 && paths->size() == 1;
  return one_named ? weigh_one(paths->front(), options) : weigh_many(*paths, options);
}

}  // namespace

void add_du(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<DuOptions>();
  DuOptions& o = *options;
  CLI::App& command =
      add_command(app, "du", "Say what runs weigh; of one run, what weighs most in it", options, action, act_du);
  command.group(kUpkeepGroup);
  add_runs_choice(command, o.runs);
  command.add_option("--top", o.top, "Rows of each table, the heaviest (default: 20; 0: all)")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden du", "trainwarden du first", "trainwarden du s3://bucket/runs/first",
                         "trainwarden du first --json | jq '.tensors[0].name'"});
}

}  // namespace trainwarden::cli
