// `trainwarden job lint`, and what `submit` checks.
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/base/toml_document.h"
#include "react/delivery/wiring.h"
#include "trainwarden/hook.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/program_kind.h"
#include "ui/cli/options/rule_choice.h"
#include "ui/cli/reports/job_view.h"
#include "ui/cli/terminal/output.h"
#include "work/document/document.h"
#include "work/jobs/job_lint.h"
#include "work/jobs/job_spec.h"
#include "work/queue/machine.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

struct JobLintOptions {
  std::string spec;
  bool json = false;
};

jobs::FileKind look(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) return jobs::FileKind::kFolder;
  return fs::exists(status) ? jobs::FileKind::kFile : jobs::FileKind::kNone;
}

jobs::Machine machine_with_disk_of(const fs::path& folder) {
  const queue::Capacity capacity = queue::this_machine();
  jobs::Machine machine;
  machine.cpus = static_cast<std::int64_t>(capacity.cpus.size());
  machine.gpus = static_cast<std::int64_t>(capacity.gpus.size());
  machine.memory_bytes = capacity.memory_bytes;
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (!error) machine.free_disk_bytes = space.available;
  return machine;
}

constexpr const char* kWhatASpecIs = "a job: TOML or JSON, as in entry_point = \"train.py\"";

// A word of `rules`: a set, or a rule.
Status check_rule(const std::string& rule) {
  const RuleChoice choice = is_rule_set(rule) ? RuleChoice{{}, {rule}, {}} : RuleChoice{{rule}, {}, {}};
  const auto created = choice.create();
  return created.ok() ? Status() : created.status();
}

// What the program's hook would refuse, where its words are lost among others.
void check_capture(const jobs::JobSpec& spec, const fs::path& folder, document::Mistakes& mistakes) {
  const fs::path config = folder / spec.hook_config;
  if (spec.hook_config.empty() || look(config) != jobs::FileKind::kFile) return;
  if (const auto options = load_hook_options(config); !options.ok()) {
    mistakes.add(spec.place_of("hook"), "hook: " + options.status().message());
  }
}

void check_judging(const jobs::JobSpec& spec, const fs::path& folder, document::Mistakes& mistakes) {
  for (const std::string& rule : spec.rules) {
    if (const Status status = check_rule(rule); !status.ok())
      mistakes.add(spec.place_of("rules"), "rules: " + status.message());
  }
  const fs::path actions = folder / spec.actions;
  if (spec.actions.empty() || look(actions) != jobs::FileKind::kFile) return;
  if (const auto wiring = delivery::read_wiring_file(actions); !wiring.ok()) {
    mistakes.add(spec.place_of("actions"), "actions: " + wiring.status().message());
  }
}

int act(const JobLintOptions& options) {
  const Result<CheckedJob> job = check_job(options.spec);
  if (!job.ok()) return report_error(job.status());
  if (options.json) {
    print_json(job_lint_json(job->spec, job->mistakes, job->warnings));
  } else {
    emit("{}", Lines{job_lint_text(job->spec, job->mistakes, job->warnings)});
  }
  if (job->mistakes.any()) return kExitUsage;
  return job->warnings.empty() ? kExitFine : kExitFailed;
}

}  // namespace

Result<std::string> read_job_text(const std::string& file, const char* expected) {
  if (file != "-") return read_toml_text(file, expected);
  std::string text(kMaxTomlBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stdin));
  if (text.size() <= kMaxTomlBytes) return text;
  return Status(Code::kInvalidArgument, fmt::format("standard input: expected {}, {} at most, found more", expected,
                                                    format_bytes(kMaxTomlBytes)));
}

Result<CheckedJob> check_job(const std::string& file, std::optional<jobs::Backend> backend) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::string text, read_job_text(file, kWhatASpecIs));
  return check_job_text(std::move(text), file, backend);
}

Result<CheckedJob> check_job_text(std::string text, const std::string& file, std::optional<jobs::Backend> backend) {
  CheckedJob job;
  job.text = std::move(text);
  TRAINWARDEN_ASSIGN_OR_RETURN(const document::DocumentValue top,
                               document::parse(job.text, file == "-" ? "standard input" : file));
  job.folder = fs::absolute(file).parent_path();
  job.spec = jobs::read_job_spec(top, job.mistakes);
  if (backend) job.spec.backend = *backend;
  const jobs::Surroundings surroundings{
      .folder = job.folder,
      .look = look,
      .is_program = [](const std::string& name) { return cli::find_program(name).has_value(); },
      .machine = machine_with_disk_of(job.folder)};
  job.warnings = jobs::lint(job.spec, surroundings, job.mistakes);
  check_capture(job.spec, job.folder, job.mistakes);
  check_judging(job.spec, job.folder, job.mistakes);
  return job;
}

void add_job_lint(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobLintOptions>();
  JobLintOptions& o = *options;
  CLI::App& command =
      add_command(job, "lint", "Say all that is wrong with a job, and what it would run", options, action, act);
  command.add_option("SPEC", o.spec, "The job: a file in TOML or JSON; - reads standard input")
      ->required()
      ->type_name("");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden job lint job.toml", "trainwarden job lint job.json --json"});
}

}  // namespace trainwarden::cli
