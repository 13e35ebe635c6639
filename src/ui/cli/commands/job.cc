// `trainwarden job`: training jobs.
#include <sched.h>
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "react/delivery/wiring.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/program_kind.h"
#include "ui/cli/options/rule_choice.h"
#include "ui/cli/reports/job_view.h"
#include "ui/cli/terminal/output.h"
#include "work/document/document.h"
#include "work/jobs/job_lint.h"
#include "work/jobs/job_spec.h"

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

std::int64_t count_gpus() {
  std::int64_t gpus = 0;
  std::error_code ignored;
  for (fs::directory_iterator gpu("/proc/driver/nvidia/gpus", ignored), end; gpu != end; gpu.increment(ignored)) ++gpus;
  return gpus;
}

jobs::Machine this_machine(const fs::path& folder) {
  jobs::Machine machine;
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof(processors), &processors) == 0) machine.cpus = CPU_COUNT(&processors);
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) {
    machine.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  }
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (!error) machine.free_disk_bytes = space.available;
  machine.gpus = count_gpus();
  return machine;
}

// A word of `rules`: a set, or a rule.
Status check_rule(const std::string& rule) {
  const bool is_set = rule == "default" || rule == "all";
  const RuleChoice choice = is_set ? RuleChoice{{}, {rule}, {}} : RuleChoice{{rule}, {}, {}};
  const auto created = choice.create();
  return created.ok() ? Status() : created.status();
}

void check_judging(const jobs::JobSpec& spec, const fs::path& folder, document::Mistakes& mistakes) {
  for (const std::string& rule : spec.rules) {
    if (const Status status = check_rule(rule); !status.ok()) mistakes.add(spec.place, "rules: " + status.message());
  }
  const fs::path actions = folder / spec.actions;
  if (spec.actions.empty() || look(actions) != jobs::FileKind::kFile) return;
  if (const auto wiring = delivery::read_wiring_file(actions); !wiring.ok()) {
    mistakes.add(spec.place, "actions: " + wiring.status().message());
  }
}

int act(const JobLintOptions& options) {
  const auto top = document::read(options.spec, "a job: TOML or JSON, as in entry_point = \"train.py\"");
  if (!top.ok()) return report_error(top.status());
  const fs::path folder = fs::absolute(options.spec).parent_path();
  document::Mistakes mistakes;
  const jobs::JobSpec spec = jobs::read_job_spec(*top, mistakes);
  const jobs::Surroundings surroundings{
      .folder = folder,
      .look = look,
      .is_program = [](const std::string& name) { return cli::find_program(name).has_value(); },
      .machine = this_machine(folder)};
  const std::vector<jobs::Warning> warnings = jobs::lint(spec, surroundings, mistakes);
  check_judging(spec, folder, mistakes);
  if (options.json) {
    print_json(job_lint_json(spec, mistakes, warnings));
  } else {
    emit("{}", Lines{job_lint_text(spec, mistakes, warnings)});
  }
  if (mistakes.any()) return kExitUsage;
  return warnings.empty() ? kExitFine : kExitFailed;
}

void add_job_lint(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobLintOptions>();
  JobLintOptions& o = *options;
  CLI::App& command =
      add_command(job, "lint", "Say all that is wrong with a job, and what it would run", options, action, act);
  command.add_option("SPEC", o.spec, "The job: a file in TOML or JSON")->required()->type_name("");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden job lint job.toml", "trainwarden job lint job.json --json"});
}

}  // namespace

void add_job(CLI::App& app, CommandAction& action) {
  CLI::App& command = add_subcommand(app, "job", "Check training jobs before they are submitted", [] {});
  command.group(kTrainGroup);
  command.require_subcommand(1);
  add_job_lint(command, action);
  set_examples(command, {"trainwarden job lint job.toml"});
}

}  // namespace trainwarden::cli
