// `trainwarden job files`, `job fetch` and `job rm`: what a job leaves.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "read/trial/run_listing.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/running/job_backend.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"
#include "work/jobs/full_disk.h"
#include "work/workspace/job_files.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

struct JobFilesOptions {
  JobChoice job;
  bool json = false;
};

struct JobFetchOptions {
  JobChoice job;
  std::vector<std::string> names;
  std::string to = ".";
};

struct JobRemoveOptions {
  JobChoice job;
  bool run = false;
};

void say_what_is_left(const workspace::JobFiles& found) {
  for (const std::string& reason : found.left) log(LogLevel::kWarning, "{}", reason);
}

int act(const JobFilesOptions& options) {
  const Result<jobs::JobRecord> job = options.job.open();
  if (!job.ok()) return report_error(job.status());
  const auto found = workspace::list_job_files(*job);
  if (!found.ok()) return report_error(found.status());
  say_what_is_left(*found);
  OrderedJson list = OrderedJson::array();
  Table table({{"FILE"}, {"SIZE"}});
  for (const workspace::JobFile& file : found->files) {
    list.push_back({{"name", file.name}, {"path", file.path.string()}, {"bytes", file.bytes}});
    table.add_row({file.name, format_bytes(file.bytes)});
  }
  if (options.json) {
    print_json({{"job", job->order().name}, {"files", list}, {"not_listed", found->left}});
  } else {
    emit("{}", Lines{found->files.empty() ? "no results and no checkpoints\n" : table.to_string()});
  }
  return kExitFine;
}

// Those that are named, also by a folder of theirs; all when none is.
Result<std::vector<workspace::JobFile>> chosen(const jobs::JobRecord& job, const std::vector<std::string>& names) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const workspace::JobFiles found, workspace::list_job_files(job));
  say_what_is_left(found);
  const std::vector<workspace::JobFile>& files = found.files;
  if (names.empty()) return files;
  std::vector<workspace::JobFile> wanted;
  for (const std::string& name : names) {
    const std::size_t before = wanted.size();
    std::copy_if(files.begin(), files.end(), std::back_inserter(wanted), [&](const workspace::JobFile& file) {
      return file.name == name || file.name.starts_with(name.ends_with('/') ? name : name + "/");
    });
    if (wanted.size() > before) continue;
    return Status(Code::kNotFound, fmt::format("job {} has no file \"{}\"; `job files {}` lists them", job.order().name,
                                               printable(name), job.order().name));
  }
  return wanted;
}

Status fetch(const JobFetchOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::JobRecord job, options.job.open());
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto files, chosen(job, options.names));
  for (const workspace::JobFile& file : files) {
    TRAINWARDEN_RETURN_IF_ERROR(workspace::fetch_job_file(file, options.to));
    emit("{}\n", (fs::path(options.to) / file.name).lexically_normal().string());
  }
  return Status();
}

int act(const JobFetchOptions& options) {
  const Status status = fetch(options);
  return status.ok() ? kExitFine : report_error(status);
}

Status remove_folder(const fs::path& folder) {
  std::error_code error;
  const fs::path aside = folder.parent_path() / ("." + folder.filename().string() + ".removed");  // no job any more
  fs::rename(folder, aside, error);
  if (!error) fs::remove_all(aside, error);
  if (!error) return Status();
  return Status(Code::kInternal, fmt::format("cannot remove {}: {}", printable(folder.string()), error.message()));
}

// The job's own file says where its run is, and a folder of jobs may be anybody's.
Status remove_run(const jobs::JobRecord& job) {
  const std::string& run = job.order().run;
  if (!trial::is_run(run)) return Status();
  if (job.check_seal().ok()) return remove_folder(run);
  return Status(Code::kPermissionDenied,
                fmt::format("job {} was not submitted by this user from this folder, so its run {} is left alone, and "
                            "so is the job; leave out --run to remove the job",
                            job.order().name, printable(run)));
}

// Its job.json cannot be read: all that is known is whether its agent lives.
Status remove_damaged_job(const JobRemoveOptions& options, const Status& damage) {
  const std::string& name = options.job.job;
  if (options.run) {
    return Status(damage.code(), damage.message() + "; leave out --run: where its run is stands in job.json alone");
  }
  const storage::Location place = storage::Location(jobs_folder(options.job.jobs)).beneath(name);
  if (jobs::JobRecord::has_agent(place, system_clock())) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("{}, but not as long as its agent lives, whose process id is in {}", damage.message(),
                              printable(place.storage().describe("agent.lock"))));
  }
  return remove_folder(place.absolute().path());
}

Status remove_job(const JobRemoveOptions& options) {
  Result<jobs::JobRecord> opened = options.job.open();
  if (opened.status().code() == Code::kDataLoss) return remove_damaged_job(options, opened.status());
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobRecord job, std::move(opened));
  JobBackends backends;
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, backends.settle(job));
  if (!jobs::is_terminal(now.status) || job.has_agent(system_clock())) {
    const std::string notice = jobs::full_disk_notice(job);
    return Status(Code::kFailedPrecondition,
                  fmt::format("job {0} is {1}; stop it first: trainwarden job stop {0} --wait{2}{3}", job.order().name,
                              name(now.status), notice.empty() ? "" : "; ", notice));
  }
  TRAINWARDEN_RETURN_IF_ERROR(backends.of(job.order().backend).remove(job));
  if (options.run) TRAINWARDEN_RETURN_IF_ERROR(remove_run(job));
  return remove_folder(job.place().absolute().path());
}

int act(const JobRemoveOptions& options) {
  const Status status = remove_job(options);
  if (!status.ok()) return report_error(status);
  emit("removed {}{}\n", options.job.job, options.run ? " and its run" : "");
  return kExitFine;
}

}  // namespace

void add_job_files(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobFilesOptions>();
  CLI::App& command =
      add_command(job, "files", "List the results, checkpoints and logs of rules of a job", options, action, act);
  add_job_choice(command, options->job);
  add_json_flag(command, options->json);
  set_examples(command,
               {"trainwarden job files bert-7", "trainwarden job files bert-7 --json | jq -r '.files[].path'"});
}

void add_job_fetch(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobFetchOptions>();
  JobFetchOptions& o = *options;
  CLI::App& command =
      add_command(job, "fetch", "Copy results, checkpoints and logs of rules of a job", options, action, act);
  add_job_choice(command, o.job);
  add_words(command, "FILE", o.names, "Names as `job files` has them, or folders of theirs (default: all)")
      ->type_name("");
  command.add_option("--to", o.to, "Folder to copy to (default: here)")->type_name("DIR");
  set_examples(command, {"trainwarden job fetch bert-7 output/model.tar.gz",
                         "trainwarden job fetch bert-7 checkpoints --to saved"});
}

void add_job_rm(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobRemoveOptions>();
  JobRemoveOptions& o = *options;
  CLI::App& command =
      add_command(job, "rm", "Remove a job that has ended, with all that lies in its folder", options, action, act);
  add_job_choice(command, o.job);
  command.add_flag("--run", o.run, "Its run, too");
  set_examples(command, {"trainwarden job rm bert-7", "trainwarden job rm bert-7 --run"});
}

}  // namespace trainwarden::cli
