// `trainwarden import`: another program's run as a run of ours.

#include "trainwarden/transfer.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/running/bucket_detour.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

struct ImportCommand {
  std::string source;
  std::string name;
  std::string out;
  std::string runs;
  bool json = false;
};

std::filesystem::path target_of(const ImportCommand& command) {
  if (!command.out.empty()) return command.out;
  return runs_folder(command.runs) / (command.name.empty() ? run_name(command.source) : command.name);
}

void print_as_json(const std::filesystem::path& run, const ImportReport& report) {
  OrderedJson losses = OrderedJson::array();
  for (const RunLoss& loss : report.losses) losses.push_back(cli::json_of(loss));
  print_json({{"run", run_name(run)},
              {"path", run.string()},
              {"id", report.run_id},
              {"workers", report.workers},
              {"steps", report.steps},
              {"records", report.records},
              {"samples", report.samples},
              {"calls", report.calls},
              {"source_ended", report.source_ended},
              {"losses", losses}});
}

void print_for_people(const std::filesystem::path& run, const ImportReport& report) {
  emit("{}: {} steps, {} records of {} worker{}\n", run.string(), report.steps, report.records, report.workers.size(),
       report.workers.size() == 1 ? "" : "s");
  if (report.samples + report.calls > 0) {
    emit("  {} samples of machines, {} calls of operators\n", report.samples, report.calls);
  }
  for (const auto& [old_name, new_name] : report.workers) emit("  {} is {}\n", old_name, new_name);
  if (!report.source_ended) emit(stderr, "the source had not ended: what it held is there\n");
  for (const RunLoss& loss : report.losses) {
    emit(stderr, "missing: {} {}, {}\n", loss.count, loss.cause, loss.where);
  }
}

int act(const ImportCommand& command) {
  const std::filesystem::path run = target_of(command);
  const auto source = BucketDetour::from(command.source);
  if (!source.ok()) return report_error(source.status());
  Result<ImportReport> report = Status(Code::kInternal, "not imported");
  source->attend([&] { report = import_run(source->local(), run, source->is_fetched() ? source->address() : ""); });
  if (!report.ok()) return report_error(report.status());
  if (command.json) {
    print_as_json(run, *report);
  } else {
    print_for_people(run, *report);
  }
  return report->losses.empty() ? kExitFine : kExitDataLost;
}

}  // namespace

void add_import(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ImportCommand>();
  ImportCommand& o = *options;
  CLI::App& command = add_command(
      app, "import", "Turn what smdebug, SageMaker's profiler, PyTorch's or Horovod recorded into a run of ours",
      options, action, act);
  command.group(kTransferGroup);
  command
      .add_option("SOURCE", o.source, "The folder that was recorded, or the file with the trace, here or in a bucket")
      ->required()
      ->type_name("");
  add_name_option(command, o.name, "Name of the new run (default: the source's)");
  command.add_option("--out", o.out, "Folder of the new run, in place of a name")->type_name("DIR")->excludes("--name");
  add_runs_option(command, o.runs);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden import old/tensors", "trainwarden import old/tensors --name bert-2021",
                         "trainwarden import old/profiler-output --name bert-2021-profile",
                         "trainwarden import worker0.pt.trace.json.gz --name resnet",
                         "trainwarden import timeline.json --name exchange",
                         "trainwarden import s3://bucket/job/debug-output --name bert-2021",
                         "trainwarden import old/tensors --out elsewhere/bert --json"});
}

}  // namespace trainwarden::cli
