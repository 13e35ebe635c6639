// `trainwarden job manifest`: a job as a file for another scheduler.
#include <filesystem>

#include "core/base/toml_document.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/reports/job_view.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "work/document/document.h"
#include "work/manifest/kubernetes_manifest.h"

namespace trainwarden::cli {
namespace {

constexpr const char* kKubernetes = "kubernetes";

struct JobManifestOptions {
  std::string spec;
  std::string format = kKubernetes;
  std::string name;
  std::string claim;
};

// Only the text is checked: files, processors and GPUs are those of other machines.
Result<jobs::JobSpec> read_spec(const std::string& file, document::Mistakes& mistakes) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text,
                               read_toml_text(file, "a job: TOML or JSON, as in entry_point = \"train.py\""));
  TRAINWARDEN_ASSIGN_OR_RETURN(const document::DocumentValue top, document::parse(text, file));
  return jobs::read_job_spec(top, mistakes);
}

int act(const JobManifestOptions& options) {
  document::Mistakes mistakes;
  const Result<jobs::JobSpec> spec = read_spec(options.spec, mistakes);
  if (!spec.ok()) return report_error(spec.status());
  manifest::ManifestChoice choice{options.name, options.claim, program_words(*spec), ""};
  choice.folder = std::filesystem::absolute(options.spec).parent_path().string();
  if (!choice.name.empty() && !jobs::is_job_name(choice.name)) {
    mistakes.add("--name", "expected letters and digits with single hyphens between them");
  }
  std::vector<jobs::Warning> warnings;
  const OrderedJson document = manifest::kubernetes_manifest(*spec, choice, mistakes, warnings);
  if (const Status status = mistakes.status(); !status.ok()) return report_error(status);
  for (const jobs::Warning& warning : warnings) {
    emit(stderr, "trainwarden: warning: {}: {}: {}\n", warning.place, warning.code, warning.what);
  }
  print_json(document);
  return kExitFine;
}

}  // namespace

void add_job_manifest(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobManifestOptions>();
  JobManifestOptions& o = *options;
  CLI::App& command = add_command(job, "manifest", "Write a job as a manifest for Kubernetes", options, action, act);
  command.add_option("SPEC", o.spec, "The job: a file in TOML or JSON")->required()->type_name("");
  command.add_option("--format", o.format, "kubernetes: a Job of batch/v1, as JSON")
      ->check(CLI::IsMember({kKubernetes}))
      ->type_name("FORMAT");
  add_name_option(command, o.name, "Call it so (default: the file's name for it)");
  command.add_option("--claim", o.claim, "A PersistentVolumeClaim for channels and results")->type_name("NAME");
  set_examples(command, {"trainwarden job manifest job.toml > job.json && kubectl apply -f job.json",
                         "trainwarden job manifest job.toml --claim trainings"});
}

}  // namespace trainwarden::cli
