// `trainwarden value`: one tensor at one step, as numbers, as a picture or as a file for NumPy.
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "read/transfer/npy.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/tensor_reading.h"
#include "ui/cli/terminal/color_option.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/picture.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

struct ValueOptions {
  RunChoice run;
  std::string tensor;
  std::optional<std::int64_t> step;
  std::string mode;
  std::string worker;
  std::string npy;
  std::string color = "auto";
  bool statistics_only = false;
  bool elements = false;
  bool whole = false;
  bool json = false;

  ReadingQuery query() const { return {tensor, mode_of(mode), step, worker}; }
};

const char* form_of(const TensorReading& reading) {
  if (reading.value) return "value";
  if (reading.scalar) return "scalar";
  if (reading.statistics) return "statistics";
  return reading.reductions.empty() ? "shape" : "reductions";
}

OrderedJson elements_of(const TensorValue& value) {
  if (value.dtype == DType::kString) return value.strings;
  OrderedJson elements = OrderedJson::array();
  for (const double element : value.to_doubles()) elements.push_back(json_number(element));
  return elements;
}

OrderedJson reductions_of(const TensorReading& reading) {
  OrderedJson reductions = OrderedJson::array();
  for (const SavedReduction& saved : reading.reductions) {
    reductions.push_back(
        {{"reduction", name(saved.reduction)}, {"abs", saved.abs}, {"value", json_number(saved.value)}});
  }
  return reductions;
}

void print_as_json(const Trial& trial, const TensorReading& reading, bool with_elements) {
  OrderedJson document = {{"run", run_name(trial.path())},
                          {"tensor", reading.tensor},
                          {"worker", reading.worker},
                          {"step", reading.step},
                          {"mode", name(reading.mode)},
                          {"mode_step", reading.mode_step},
                          {"form", form_of(reading)},
                          {"dtype", reading.shape ? OrderedJson(name(reading.dtype)) : OrderedJson()},
                          {"shape", reading.shape ? cli::json_of(*reading.shape) : OrderedJson()},
                          {"scalar", reading.scalar ? json_number(*reading.scalar) : OrderedJson()},
                          {"statistics", reading.statistics ? cli::json_of(*reading.statistics) : OrderedJson()},
                          {"reductions", reductions_of(reading)}};
  const bool is_text = reading.dtype == DType::kString;
  if (reading.value && (with_elements || is_text)) document["elements"] = elements_of(*reading.value);
  print_json(document);
}

void print_statistics(const Statistics& s) {
  emit("count {}  zeros {}  NaN {}  infinite {}\n", s.count, s.zero_count, s.nan_count, s.inf_count());
  emit("min {}  max {}  mean {}  std {}\n", format_number(s.min), format_number(s.max), format_number(s.mean()),
       format_number(std::sqrt(s.variance())));
  emit("l1 {}  l2 {}  mean of |x| {}  largest |x| {}\n", format_number(s.l1()), format_number(s.l2()),
       format_number(s.abs_mean()), format_number(s.abs_max));
  if (s.approximate) emit("approximate: computed by the program, in floating point\n");
}

void print_reductions(const std::vector<SavedReduction>& reductions) {
  for (const SavedReduction& saved : reductions) {
    emit("saved {}: {}\n", describe(saved.reduction, saved.abs), format_number(saved.value));
  }
}

void print_strings(const std::vector<std::string>& strings) {
  for (const std::string& text : strings) emit("{}\n", text);
}

void print_picture(const TensorValue& value, const Terminal& terminal) {
  const std::vector<double> elements = value.to_doubles();
  const PictureSize size = picture_size(terminal);
  const bool is_vector = value.shape.rank() < 2;
  const Raster raster = lay_out(elements, value.shape, size.rows, is_vector ? terminal.columns : size.columns);
  if (is_complex(value.dtype)) emit("real parts:\n");
  emit("{}", Painted{is_vector ? render_sparkline(raster, terminal) : render_picture(raster, terminal)});
}

std::string nearest_text(const TensorReading& reading) {
  if (!reading.nearest_whole) return "";
  return fmt::format("; the nearest step that has them is {} (--step {} without --mode)", *reading.nearest_whole,
                     *reading.nearest_whole);
}

void print_for_people(const TensorReading& reading, const ValueOptions& options) {
  const std::string type = reading.shape ? fmt::format("{} {}  ", name(reading.dtype), reading.shape->to_string()) : "";
  emit("{}  {}step {} ({} {})  {}\n", reading.tensor, type, reading.step, name(reading.mode), reading.mode_step,
       reading.worker);
  if (reading.scalar) emit("{}\n", format_number(*reading.scalar));
  if (reading.value && reading.dtype == DType::kString) return print_strings(reading.value->strings);
  if (reading.statistics && !reading.scalar) print_statistics(*reading.statistics);
  print_reductions(reading.reductions);
  if (options.statistics_only || reading.scalar) return;
  if (reading.value) {
    print_picture(*reading.value, output_terminal(options.color));
  } else {
    emit("The elements were not kept at this step, only the {}{}.\n", form_of(reading), nearest_text(reading));
  }
}

void print_whole_as_json(const Trial& trial, const TensorReading& reading, const ShardedTensor& whole) {
  print_json({{"run", run_name(trial.path())},
              {"tensor", reading.tensor},
              {"workers", whole.workers},
              {"step", reading.step},
              {"mode", name(reading.mode)},
              {"mode_step", reading.mode_step},
              {"form", "statistics"},
              {"shape", cli::json_of(whole.shape)},
              {"statistics", cli::json_of(whole.statistics)}});
}

int show_whole(Trial& trial, const TensorReading& reading, bool as_json) {
  const auto whole = trial.sharded(reading.tensor, reading.step);
  if (!whole.ok()) return report_error(whole.status());
  if (as_json) {
    print_whole_as_json(trial, reading, *whole);
    return kExitFine;
  }
  emit("{}  {}  step {} ({} {})  parts of {}\n", reading.tensor, whole->shape.to_string(), reading.step,
       name(reading.mode), reading.mode_step, fmt::join(whole->workers, ", "));
  print_statistics(whole->statistics);
  return kExitFine;
}

Status export_npy(const TensorReading& reading, const std::string& file) {
  if (!reading.value) {
    return Status(Code::kOutOfRange,
                  fmt::format("\"{}\" was not kept whole at step {}, only its {}{}; nothing to write",
                              printable(reading.tensor), reading.step, form_of(reading), nearest_text(reading)));
  }
  TRAINWARDEN_RETURN_IF_ERROR(transfer::write_npy(file, *reading.value));
  const DType written = transfer::npy_dtype(reading.dtype);
  const std::string note =
      written == reading.dtype ? "" : fmt::format(" as {} (NumPy has no {})", name(written), name(reading.dtype));
  emit(stderr, "wrote {} {}{}\n", file, reading.value->shape.to_string(), note);
  return {};
}

int act(const ValueOptions& options) {
  const auto trial = options.run.open();
  if (!trial.ok()) return report_error(trial.status());
  const auto reading = read_tensor(**trial, options.query());
  if (!reading.ok()) return report_error(reading.status());
  if (options.whole) return show_whole(**trial, *reading, options.json);
  if (options.json) print_as_json(**trial, *reading, options.elements);
  if (!options.npy.empty()) {
    if (const Status status = export_npy(*reading, options.npy); !status.ok()) return report_error(status);
  }
  if (!options.json && options.npy.empty()) print_for_people(*reading, options);
  return kExitFine;
}

}  // namespace

void add_value(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ValueOptions>();
  ValueOptions& o = *options;
  CLI::App& command =
      add_command(app, "value", "Show one tensor at one step: statistics and a small picture", options, action, act);
  command.group(kLookGroup);
  add_run_choice(command, o.run);
  command.add_option("NAME", o.tensor, "Name of a tensor; `trainwarden tensors RUN` lists them")
      ->required()
      ->type_name("");
  command.add_option("--step", o.step, "Step of --mode, else global step (default: the last that holds it whole)")
      ->type_name("N");
  add_mode_option(command, o.mode);
  command.add_option("--worker", o.worker, "Of this worker, rank-00000 (default: the first that has it)")
      ->type_name("NAME");
  CLI::Option* npy =
      command.add_option("--npy", o.npy, "Write the elements to FILE, as numpy.load reads it")->type_name("FILE");
  command.add_flag("--whole", o.whole, "Of a parameter that is sharded over workers: statistics of all its parts")
      ->excludes(npy);
  command.add_flag("--stats", o.statistics_only, "Statistics only, no picture");
  command.add_flag("--elements", o.elements, "With --json: all elements, row-major");
  add_color_option(command, o.color);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden value first conv0.weight", "trainwarden value first conv0.weight --step 100",
                         "trainwarden value first gradient/conv0.weight --mode train --step 50 --stats",
                         "trainwarden value first conv0.weight --npy conv0.npy",
                         "trainwarden value sharded layers.0.weight --whole"});
}

}  // namespace trainwarden::cli
