// `trainwarden export`: a run's tensors, or its operator calls, in the format of another program.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "core/process/signal_relay.h"
#include "read/transfer/output_claim.h"
#include "store/journal/file_maps.h"
#include "trainwarden/transfer.h"
#include "ui/answers/one_file_page.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/export_profile.h"
#include "ui/cli/commands/export_trace.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/reports/export_view.h"
#include "ui/cli/running/bucket_detour.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kFollowInterval{200};

using transfer::parse_trace_format;

struct ExportCommand {
  RunChoice run;
  std::string format;
  std::string out;
  std::vector<std::string> include;
  std::string collection;
  std::vector<std::string> modes;
  std::string steps;
  std::vector<std::string> workers;
  std::vector<std::string> images;
  bool record_crc = false;
  bool no_texts = false;
  bool follow = false;
  bool force = false;
  bool json = false;
};

Result<ExportOptions> options_of(const ExportCommand& command) {
  ExportOptions options;  // where to is said later
  options.format = parse_export_format(command.format).value_or(ExportFormat::kJson);
  options.choice = {.include = command.include, .collection = command.collection, .workers = command.workers};
  for (const std::string& mode : command.modes) options.choice.modes.push_back(mode_of(mode));
  if (!command.steps.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(options.choice.steps, parse_step_ranges(command.steps));
  }
  options.images = command.images;
  options.texts = !command.no_texts;
  options.record_crc = command.record_crc;
  options.force = command.force;
  return options;
}

bool wants_to_end(process::SignalRelay& relay, std::chrono::milliseconds wait) {
  const auto received = relay.wait(wait);
  return received && received->number != SIGCHLD;
}

// Takes what is there, and with `follow` what comes until the run has ended. Ctrl-C stops after a whole step.
Result<ExportReport> transfer(Trial& trial, ExportOptions options, bool follow) {
  process::SignalRelay relay;
  std::stop_source ended_by_user;
  ExportView view(trial);
  options.stop = ended_by_user.get_token();
  options.on_step = [&](std::int64_t step) {
    view.show(step);
    if (wants_to_end(relay, std::chrono::milliseconds(0))) ended_by_user.request_stop();
  };
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto exported, Export::start(trial, std::move(options)));
  while (true) {
    const Status status = exported->poll();
    if (!status.ok() && !(follow && status.code() == Code::kUnavailable)) return status;
    if (!follow || exported->run_ended() || ended_by_user.stop_requested()) break;
    if (wants_to_end(relay, kFollowInterval)) break;
  }
  return exported->finish();
}

Result<answers::OneFilePage> write_page(const ExportCommand& command, const BucketDetour& out) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto run, command.run.locate());
  std::error_code ignored;
  if (std::filesystem::exists(out.local(), ignored) && !command.force) {
    return Status(Code::kAlreadyExists, fmt::format("{} is there; --force writes it anew", command.out));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(
      auto page,
      answers::one_file_page(run, {.texts = command.no_texts ? answers::Texts::kLeftOut : answers::Texts::kKept}));
  std::ofstream file(out.local(), std::ios::binary);
  file << page.html;
  file.close();
  if (!file) return Status(Code::kUnavailable, fmt::format("cannot write {}", command.out));
  return page;
}

// The page with the run inside, as one file.
int export_page(const ExportCommand& command, const BucketDetour& out) {
  Result<answers::OneFilePage> page = Status(Code::kInternal, "not written");
  out.attend([&] { page = no_throw([&] { return write_page(command, out); }); });
  if (!page.ok()) return report_error(page.status());
  if (const Status sent = out.send(); !sent.ok()) return report_error(sent);
  if (command.json) {
    print_json({{"out", command.out},
                {"bytes", page->html.size()},
                {"answers", page->answers},
                {"left_out", page->left_out},
                {"texts", !command.no_texts}});
    return kExitFine;
  }
  emit("{}: {}, opens in any browser without a server\n", command.out, format_bytes(page->html.size()));
  emit("{}\n", command.no_texts
                   ? "Texts of the training are left out."
                   : "It holds texts of the training: its command, labels, host and paths, messages, tokens; "
                     "--no-texts leaves them out.");
  if (page->left_out > 0)
    emit("{} of {} answers were too much for one file\n", page->left_out, page->answers + page->left_out);
  return kExitFine;
}

bool chooses_tensors(const ExportCommand& command) {
  return !command.include.empty() || !command.collection.empty() || !command.modes.empty() || !command.images.empty() ||
         command.record_crc || command.no_texts || command.follow;
}

int export_for_smdebug(const ExportCommand& command, const BucketDetour& out) {
  if (chooses_tensors(command) || !command.steps.empty()) {
    return report_error(
        Status(Code::kInvalidArgument,
               "--to smdebug-profiler takes --worker; leave out the options that choose tensors and steps"));
  }
  return export_profile({command.run, command.workers, command.force, command.json}, out);
}

// Of the traces of operator calls, the options that choose tensors mean nothing.
int export_calls(const ExportCommand& command, const BucketDetour& out) {
  if (chooses_tensors(command)) {
    return report_error(Status(
        Code::kInvalidArgument,
        fmt::format("--to {} takes --steps and --worker; leave out the options that choose tensors", command.format)));
  }
  return export_trace(
      {command.run, *parse_trace_format(command.format), command.steps, command.workers, command.force, command.json},
      out);
}

bool writes_one_file(const std::string& format) {
  if (const auto tensors = parse_export_format(format)) return transfer::writes_one_file(*tensors);
  return format != kSmdebugProfiler;
}

int export_tensors(const ExportCommand& command, const BucketDetour& out) {
  auto options = options_of(command);
  if (!options.ok()) return report_error(options.status());
  if (!command.follow) journal::allow_file_maps();  // who follows a run stays for long
  const auto trial = command.run.open();
  if (!trial.ok()) return report_error(trial.status());
  ExportOptions wanted = *options;
  wanted.out = out.address();
  options->out = out.local();
  const auto report = transfer(**trial, *std::move(options), command.follow);
  if (!report.ok()) return report_error(report.status());
  if (const Status sent = out.send(); !sent.ok()) return report_error(sent);
  if (command.json) {
    print_json(cli::json_of(**trial, wanted, *report));
  } else {
    print_export(wanted, *report);
  }
  return report->damaged > 0 ? kExitDataLost : kExitFine;
}

int act(const ExportCommand& command) {
  using Kind = BucketDetour::Kind;
  const auto out =
      BucketDetour::to(command.out, writes_one_file(command.format) ? Kind::kFile : Kind::kFolder, command.force);
  if (!out.ok()) return report_error(out.status());
  if (command.format == "page") return export_page(command, *out);
  if (command.format == kSmdebugProfiler) return export_for_smdebug(command, *out);
  if (parse_trace_format(command.format)) return export_calls(command, *out);
  return export_tensors(command, *out);
}

void add_choice(CLI::App& command, ExportCommand& c) {
  const auto add_list = [&](const char* option, std::vector<std::string>& list, const char* description) {
    return add_words(command, option, list, description);
  };
  add_list("--include", c.include, "Only names in which this PCRE2 pattern is found; several: any of them")
      ->type_name("PATTERN");
  command.add_option("--collection", c.collection, "Only members of this collection")->type_name("NAME");
  command.add_option("--steps", c.steps, "Only these: 0:1000, ::10, 5,7 (of --mode, else global steps)")
      ->type_name("STEPS");
  add_list("--mode", c.modes, "Only this mode; several: any of them")
      ->type_name("MODE")
      ->check(CLI::IsMember({"train", "eval", "predict", "global"}, CLI::ignore_case));
  add_list("--worker", c.workers, "Only this worker, rank-00000; several: any of them")->type_name("NAME");
  add_list("--images", c.images, "tensorboard: show tensors with such names as images, too")->type_name("PATTERN");
}

}  // namespace

void add_export(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ExportCommand>();
  ExportCommand& o = *options;
  CLI::App& command =
      add_command(app, "export", "Write what a run holds in the format of another program", options, action, act);
  command.group(kTransferGroup);
  add_run_choice(command, o.run);
  command
      .add_option("OUT", o.out,
                  "Where to, here or in a bucket: a folder for smdebug, smdebug-profiler, tensorboard, safetensors and "
                  "npz, else a file")
      ->required()
      ->type_name("");
  command.add_option("--to", o.format, "The format (docs/reference/export.md says what each can hold)")
      ->required()
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"smdebug", "tensorboard", "safetensors", "npz", "csv", "json", "mcap", "parquet", "page",
                             "chrome-trace", "perfetto", "speedscope", "collapsed", kSmdebugProfiler}));
  add_choice(command, o);
  command.add_flag("--record-crc", o.record_crc, "smdebug: checksums for TensorFlow, which smdebug refuses");
  command.add_flag("--no-texts", o.no_texts,
                   "Without texts of the training: arguments, labels, host, paths, messages, tokens");
  command.add_flag("--follow", o.follow, "Of a run that is still written, go on until it ends");
  command.add_flag("--force", o.force, "Write to OUT although something is there; nothing is removed");
  add_json_flag(command, o.json);
  set_examples(command,
               {"trainwarden export first --to tensorboard board",
                "trainwarden export first --to tensorboard board --follow --images '^conv0'",
                "trainwarden export first --to page first.html", "trainwarden export first --to smdebug old/first",
                "trainwarden export first --to chrome-trace first.json.gz --steps 100:110",
                "trainwarden export first --to smdebug-profiler profiler-output",
                "trainwarden export first --to csv loss.csv --collection losses",
                "trainwarden export first --to parquet first.parquet", "trainwarden export first --to mcap first.mcap",
                "trainwarden export first --to parquet s3://bucket/tables/first.parquet",
                "trainwarden export first --to npz arrays --include weight --mode train --steps 0:1000:100"});
}

}  // namespace trainwarden::cli
