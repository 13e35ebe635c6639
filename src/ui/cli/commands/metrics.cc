// `trainwarden metrics`: numbers that a program prints, as metrics.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "core/base/file_descriptor.h"
#include "core/base/text.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/metrics_command.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/reports/metric_trial.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

struct MetricsTryOptions {
  std::string log;
  std::string definitions;
  std::vector<std::string> regexes;
  std::size_t values = 20;
  bool json = false;
};

struct MetricsLintOptions {
  std::string definitions;
  bool json = false;
};

Status cannot_read(const std::string& log, int error) {
  return Status(error == ENOENT ? Code::kNotFound : Code::kInvalidArgument,
                fmt::format("{}: expected a program's output as a file, or - for standard input: {}", printable(log),
                            std::strerror(error)));
}

Result<FileDescriptor> open_log(const std::string& log) {
  FileDescriptor file(log == "-" ? ::dup(STDIN_FILENO) : ::open(log.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return cannot_read(log, errno);
  return file;
}

Status read_log(const std::string& log, MetricTrial& trial) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor file, open_log(log));
  std::string buffer(kBufferBytes, '\0');
  for (;;) {
    const ssize_t bytes = ::read(file.get(), buffer.data(), buffer.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return cannot_read(log, errno);
    if (bytes == 0) break;
    trial.append({buffer.data(), static_cast<std::size_t>(bytes)});
  }
  trial.finish();
  return {};
}

// Those of the file, then those of the command line. Nothing when there are none.
Result<std::optional<log_metrics::DefinitionSet>> definitions_of(const MetricsTryOptions& options) {
  std::optional<log_metrics::DefinitionSet> set;
  if (!options.definitions.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(set, log_metrics::read_definition_file(options.definitions));
  }
  for (const std::string& regex : options.regexes) {
    TRAINWARDEN_ASSIGN_OR_RETURN(log_metrics::MetricDefinition definition, log_metrics::parse_definition(regex));
    if (!set) set.emplace();
    set->definitions.push_back(std::move(definition));
  }
  return set;
}

Result<MetricTrial> try_on_log(const MetricsTryOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::optional<log_metrics::DefinitionSet> definitions, definitions_of(options));
  TRAINWARDEN_ASSIGN_OR_RETURN(MetricTrial trial, MetricTrial::create(std::move(definitions), options.values));
  TRAINWARDEN_RETURN_IF_ERROR(read_log(options.log, trial));
  return trial;
}

int act(const MetricsTryOptions& options) {
  const Result<MetricTrial> trial = try_on_log(options);
  if (!trial.ok()) return report_error(trial.status());
  if (options.json) {
    print_json(trial->to_json());
  } else {
    emit("{}", Lines{trial->to_text()});
  }
  return trial->found_all() ? kExitFine : kExitFailed;
}

int act(const MetricsLintOptions& options) {
  const Result<log_metrics::DefinitionSet> set = log_metrics::read_definition_file(options.definitions);
  if (!set.ok()) return report_error(set.status());
  const std::vector<log_metrics::LintWarning> warnings = log_metrics::lint(*set);
  if (options.json) {
    OrderedJson list = OrderedJson::array();
    for (const log_metrics::LintWarning& warning : warnings) list.push_back(warning_json(warning));
    print_json({{"definitions", set->definitions.size()}, {"warnings", list}});
  } else if (warnings.empty()) {
    emit("definitions: {}, warnings: 0\n", set->definitions.size());
  } else {
    emit("{}", Lines{lint_text(warnings)});
  }
  return warnings.empty() ? kExitFine : kExitFailed;
}

void add_metrics_try(CLI::App& metrics, CommandAction& action) {
  auto options = std::make_shared<MetricsTryOptions>();
  MetricsTryOptions& o = *options;
  CLI::App& command = add_command(metrics, "try", "Show what is found in a program's output", options, action, act);
  command.add_option("LOG", o.log, "The output as a file, or - for standard input")->required()->type_name("");
  command
      .add_option("--definitions", o.definitions,
                  "TOML with [[metric]] tables, or JSON with a list of {\"Name\", \"Regex\"}")
      ->type_name("FILE");
  add_words(command, "--regex", o.regexes,
            "A metric and its pattern; can be given several times. Without definitions, what Keras, tf.estimator, "
            "Hugging Face, Lightning and tqdm print is found")
      ->type_name("NAME=REGEX");
  command.add_option("--values", o.values, "How many values are shown one by one")->capture_default_str();
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden metrics try training.log",
                         R"(trainwarden metrics try --regex 'train:loss=(?<!\w)loss: (\S+)' training.log)",
                         "python train.py 2>&1 | trainwarden metrics try --definitions metrics.toml -"});
}

void add_metrics_lint(CLI::App& metrics, CommandAction& action) {
  auto options = std::make_shared<MetricsLintOptions>();
  MetricsLintOptions& o = *options;
  CLI::App& command =
      add_command(metrics, "lint", "Find definitions that do not find what they mean", options, action, act);
  command.add_option("DEFINITIONS", o.definitions, "The file, as `metrics try --definitions` takes it")
      ->required()
      ->type_name("");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden metrics lint metrics.toml", "trainwarden metrics lint metrics.json --json"});
}

}  // namespace

void add_metrics(CLI::App& app, CommandAction& action) {
  CLI::App& command =
      add_subcommand(app, "metrics", "Find metrics in what programs print, and show those of a run", [] {});
  command.group(kLookGroup);
  command.require_subcommand(1);
  add_metrics_try(command, action);
  add_metrics_lint(command, action);
  add_metrics_show(command, action);
  set_examples(command, {"trainwarden metrics try training.log", "trainwarden metrics lint metrics.toml",
                         "trainwarden metrics show first --csv"});
}

}  // namespace trainwarden::cli
