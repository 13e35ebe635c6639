// `trainwarden cat` and `trainwarden tail`: the records of a run as lines of JSON, for grep and jq.
#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "data/format/parse_json.h"
#include "read/upkeep/record_log.h"
#include "trainwarden/transfer.h"
#include "ui/cli/commands/events_follow.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/upkeep_commands.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/views/event_log.h"

namespace trainwarden::cli {
namespace {

using upkeep::LogKind;
using upkeep::RunLogLine;

struct RecordOptions {
  RunChoice run;
  std::vector<std::string> kinds;
  std::vector<std::string> tensors;
  std::vector<std::string> workers;
  std::string steps;
  std::optional<std::int64_t> values;  // elements of a value that are shown
  std::int64_t lines = 10;             // of tail
  bool follow = false;
};

constexpr std::int64_t kElementsShown = 100;

Result<upkeep::LogFilter> log_filter(const RecordOptions& options) {
  upkeep::LogFilter filter;
  for (const std::string& list : options.kinds) {
    for (const std::string& word : split_list(list)) {
      const auto kind = upkeep::parse_log_kind(word);
      if (!kind) {
        std::vector<std::string> known;
        for (int i = 0; i < upkeep::kLogKinds; ++i) known.emplace_back(upkeep::name(static_cast<LogKind>(i)));
        return Status(Code::kInvalidArgument, fmt::format("no kind \"{}\"{}; there are {}", printable(word),
                                                          did_you_mean(word, known), fmt::join(known, ", ")));
      }
      filter.kinds.push_back(*kind);
    }
  }
  filter.tensors = options.tensors;
  filter.journals = options.workers;
  filter.with_values = options.values.has_value();
  if (options.steps.empty()) return filter;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<StepRange> ranges, parse_step_ranges(options.steps));
  if (ranges.size() != 1 || ranges[0].every != 1) {
    return Status(Code::kInvalidArgument,
                  fmt::format("--step takes one stretch of steps, as 0:1000, or one step, found \"{}\"",
                              printable(options.steps)));
  }
  filter.first_step = ranges[0].first;
  if (ranges[0].end) filter.end_step = *ranges[0].end;
  return filter;
}

OrderedJson shown_elements(const TensorValue& value, std::size_t most) {
  OrderedJson list = OrderedJson::array();
  if (value.dtype == DType::kString) {
    for (std::size_t i = 0; i < std::min(value.strings.size(), most); ++i) list.push_back(value.strings[i]);
    return list;
  }
  // Only those that are shown become numbers.
  TensorValue part;
  part.dtype = value.dtype;
  const std::size_t bytes = std::min(most * item_bytes(value.dtype), value.data.size());
  part.shape = Shape{static_cast<std::int64_t>(bytes / item_bytes(value.dtype))};
  part.data.assign(value.data.begin(), value.data.begin() + static_cast<std::ptrdiff_t>(bytes));
  for (const double number : part.to_doubles()) list.push_back(json_number(number));
  return list;
}

const char* form_name(journal::RecordForm form) {
  switch (form) {
    case journal::RecordForm::kValue: return "value";
    case journal::RecordForm::kStatistics: return "statistics";
    case journal::RecordForm::kScalar: return "scalar";
    case journal::RecordForm::kShape: return "shape";
    case journal::RecordForm::kReductions: return "reductions";
  }
  return "unknown";
}

void add_tensor_fields(const RunLogLine& record, std::int64_t most, OrderedJson& line) {
  line["tensor"] = record.tensor;
  line["form"] = form_name(record.form);
  if (record.has_shape) {
    line["dtype"] = name(record.dtype);
    line["shape"] = cli::json_of(record.shape);
  }
  if (record.statistics) line["statistics"] = cli::json_of(*record.statistics);
  if (record.scalar) line["scalar"] = json_number(*record.scalar);
  for (const SavedReduction& each : record.reductions) {
    line["reductions"][describe(each.reduction, each.abs)] = json_number(each.value);
  }
  if (!record.value) return;
  line["values"] = shown_elements(*record.value, static_cast<std::size_t>(most));
  line["cut"] = line["values"].size() < static_cast<std::size_t>(record.value->shape.element_count());
}

void add_samples(const RunLogLine& record, OrderedJson& line) {
  OrderedJson samples = OrderedJson::array();
  for (const auto& [metric, value] : record.samples) {
    OrderedJson sample = {{"metric", metric->name}, {"source", name(metric->source)}, {"value", json_number(value)}};
    if (!metric->instance.empty()) sample["instance"] = metric->instance;
    if (!metric->unit.empty()) sample["unit"] = metric->unit;
    samples.push_back(std::move(sample));
  }
  line["samples"] = std::move(samples);
}

OrderedJson record_line(const RunLogLine& record, std::int64_t most) {
  OrderedJson line = {{"kind", upkeep::name(record.kind)}, {"journal", record.journal}, {"unix_ns", record.unix_ns}};
  if (record.step >= 0) line["step"] = record.step;
  if (record.mode_step >= 0) {
    line["mode"] = name(record.mode);
    line["mode_step"] = record.mode_step;
  }
  switch (record.kind) {
    case LogKind::kStep: line["records"] = record.records; break;
    case LogKind::kTensor: add_tensor_fields(record, most, line); break;
    case LogKind::kSamples: add_samples(record, line); break;
    case LogKind::kOperators:
      line["calls"] = record.calls;
      line["lost_calls"] = record.lost_calls;
      break;
    default: {
      const auto document = format::parse_json(record.json, "an event");
      line["data"] = document.ok() ? OrderedJson(*document) : OrderedJson(record.json);
    }
  }
  if (!record.problem.ok()) line["error"] = record.problem.to_string();
  return line;
}

// Prints, and knows whether something could not be read.
class RecordPrinter {
 public:
  explicit RecordPrinter(const RecordOptions& options) : most_(options.values.value_or(kElementsShown)) {}

  upkeep::LogVisitor visitor() {
    return [this](const RunLogLine& record) {
      has_loss_ = has_loss_ || !record.problem.ok();
      print_json_line(record_line(record, most_));
      return Status();
    };
  }
  int exit_code() const { return has_loss_ ? kExitDataLost : kExitFine; }

 private:
  const std::int64_t most_;
  bool has_loss_ = false;
};

Result<std::unique_ptr<upkeep::RecordLog>> open_log(const RecordOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto path, options.run.locate());
  TRAINWARDEN_ASSIGN_OR_RETURN(const upkeep::LogFilter filter, log_filter(options));
  return upkeep::RecordLog::open(storage::Location(path), filter);
}

int act_cat(const RecordOptions& options) {
  const auto log = open_log(options);
  if (!log.ok()) return report_error(log.status());
  RecordPrinter printer(options);
  const Status status = (*log)->visit_all(printer.visitor());
  return status.ok() ? printer.exit_code() : report_error(status);
}

// Until no more can come, as `events --follow` decides it: the run has ended and nobody keeps its ledger.
Status follow_records(const RecordOptions& options, upkeep::RecordLog& log, RecordPrinter& printer) {
  constexpr std::chrono::milliseconds kRecordLookInterval{100};
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto path, options.run.locate());
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto ledger, views::EventLog::open(storage::Location(path)));
  for (bool is_last = false; !is_last;) {
    TRAINWARDEN_RETURN_IF_ERROR(flush_output());
    if (reader_is_gone()) return {};
    // Both were asked before the look, so that what came in between is seen.
    is_last = log.state() != RunState::kRunning && !ledger->kept();
    if (!is_last) std::this_thread::sleep_for(kRecordLookInterval);
    TRAINWARDEN_RETURN_IF_ERROR(log.refresh());
    TRAINWARDEN_RETURN_IF_ERROR(log.visit_new(printer.visitor()));
  }
  return flush_output();
}

int act_tail(const RecordOptions& options) {
  const auto log = open_log(options);
  if (!log.ok()) return report_error(log.status());
  RecordPrinter printer(options);
  Status status = (*log)->visit_last(static_cast<std::uint64_t>(options.lines), printer.visitor());
  if (status.ok() && options.follow) status = follow_records(options, **log, printer);
  return status.ok() ? printer.exit_code() : report_error(status);
}

void add_record_options(CLI::App& command, RecordOptions& options) {
  add_run_choice(command, options.run);
  add_words(command, "--kind", options.kinds,
            "Only these: step, tensor, event, verdict, action, samples, operators; several, or a list")
      ->type_name("KIND");
  command.add_option("--step", options.steps, "Only these global steps: FIRST:END, without END, or one")
      ->type_name("A:B");
  add_words(command, "--tensor", options.tensors,
            "Only tensors in whose name this PCRE2 pattern is found; several: any of them")
      ->type_name("PATTERN");
  add_words(command, "--worker", options.workers, "Only this journal, rank-00000 or ledger; several: any of them")
      ->type_name("NAME");
  command
      .add_option("--values", options.values,
                  "Show the elements of values, N of each tensor at most (default without N: 100)")
      ->type_name("N")
      ->expected(0, 1)
      ->default_str("100")
      ->check(CLI::PositiveNumber);
}

}  // namespace

void add_cat(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App& command =
      add_command(app, "cat", "Print the records of a run, a line of JSON each", options, action, act_cat);
  command.group(kLookGroup);
  add_record_options(command, *options);
  set_examples(command, {"trainwarden cat first | head", "trainwarden cat first --kind event,verdict | jq .data",
                         "trainwarden cat first --tensor '^loss' | jq -c '[.step, .scalar]'",
                         "trainwarden cat first --step 100:110 --tensor conv0 --values=8"});
}

void add_tail(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<RecordOptions>();
  RecordOptions& o = *options;
  CLI::App& command =
      add_command(app, "tail", "Print the last records of a run, and those that come", options, action, act_tail);
  command.group(kLookGroup);
  add_record_options(command, o);
  command.add_option("-n,--lines", o.lines, "How many of the last ones (default: 10)")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command.add_flag("-f,--follow", o.follow, "Go on with what is written, until the run ends");
  set_examples(command, {"trainwarden tail first", "trainwarden tail first -f --tensor '^loss'",
                         "trainwarden tail first -n 3 --kind samples"});
}

}  // namespace trainwarden::cli
