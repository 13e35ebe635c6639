// `trainwarden tensors`: the tensors that a run holds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

struct TensorsOptions {
  RunChoice run;
  std::vector<std::string> include;
  std::string collection;
  std::string mode;
  std::optional<std::int64_t> step;
  bool json = false;

  TensorQuery query() const {
    TensorQuery query{include, collection, std::nullopt, step};
    if (!mode.empty()) query.mode = mode_of(mode);
    return query;
  }
};

Result<std::vector<TensorInfo>> read_tensors(const Trial& trial, const TensorQuery& query) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> names, trial.tensor_names(query));
  std::vector<TensorInfo> tensors;
  for (const std::string& name : names) {
    TRAINWARDEN_ASSIGN_OR_RETURN(TensorInfo info, trial.tensor_info(name));
    tensors.push_back(std::move(info));
  }
  return tensors;
}

void print_as_json(const Trial& trial, const std::vector<TensorInfo>& tensors) {
  OrderedJson list = OrderedJson::array();
  for (const TensorInfo& tensor : tensors) {
    list.push_back({{"name", tensor.name},
                    {"dtype", tensor.has_shape ? OrderedJson(name(tensor.dtype)) : OrderedJson()},
                    {"shape", tensor.has_shape ? cli::json_of(tensor.shape) : OrderedJson()},
                    {"collections", tensor.collections},
                    {"values", tensor.values},
                    {"statistics", tensor.statistics},
                    {"scalars", tensor.scalars},
                    {"reductions", tensor.reductions}});
  }
  print_json({{"run", run_name(trial.path())}, {"tensors", list}});
}

// A count, or nothing where there is none.
std::string count_text(std::uint64_t count) {
  return count == 0 ? "" : std::to_string(count);
}

void print_as_table(const std::vector<TensorInfo>& tensors) {
  Table table({{"NAME"},
               {"DTYPE"},
               {"SHAPE"},
               {"VALUES", Align::kRight},
               {"STATISTICS", Align::kRight},
               {"SCALARS", Align::kRight},
               {"REDUCTIONS", Align::kRight},
               {"COLLECTIONS"}});
  for (const TensorInfo& tensor : tensors) {
    const std::string dtype(tensor.has_shape ? name(tensor.dtype) : "");
    table.add_row({tensor.name, dtype, tensor.has_shape ? tensor.shape.to_string() : "", count_text(tensor.values),
                   count_text(tensor.statistics), count_text(tensor.scalars), count_text(tensor.reductions),
                   fmt::format("{}", fmt::join(tensor.collections, ", "))});
  }
  emit("{}", Lines{table.to_string()});
}

int act(const TensorsOptions& options) {
  const auto trial = options.run.open();
  if (!trial.ok()) return report_error(trial.status());
  const auto tensors = read_tensors(**trial, options.query());
  if (!tensors.ok()) return report_error(tensors.status());
  if (options.json) {
    print_as_json(**trial, *tensors);
  } else {
    print_as_table(*tensors);
    if (tensors->empty()) emit(stderr, "no tensor of {} matches\n", run_name((*trial)->path()));
  }
  return kExitFine;
}

}  // namespace

void add_tensors(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<TensorsOptions>();
  TensorsOptions& o = *options;
  CLI::App& command = add_command(app, "tensors", "List the tensors that a run holds", options, action, act);
  command.group(kLookGroup);
  add_run_choice(command, o.run);
  add_words(command, "--include", o.include, "Only names in which this PCRE2 pattern is found; several: any of them")
      ->type_name("PATTERN");
  command.add_option("--collection", o.collection, "Only members of this collection")->type_name("NAME");
  add_mode_option(command, o.mode);
  command.add_option("--step", o.step, "Only tensors kept at this step (of --mode, else the global step)")
      ->type_name("N");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden tensors first", "trainwarden tensors first --collection gradients",
                         "trainwarden tensors first --include '^conv0' --step 100",
                         "trainwarden tensors first --json | jq -r '.tensors[].name'"});
}

}  // namespace trainwarden::cli
