#include "work/workspace/job_files.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "core/base/text.h"
#include "work/jobs/job_rules.h"
#include "work/workspace/files_within.h"
#include "work/workspace/layout.h"
#include "work/workspace/workspace.h"

namespace trainwarden::workspace {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxListedFiles = 100'000;

// A folder of jobs may be anybody's. In the job's own folder no link is followed; what its file says lies elsewhere is
// looked at only for who has submitted it: else whoever can write a job would choose what of this user is shown.
Status check_folder(const jobs::JobRecord& job, const fs::path& folder) {
  const fs::path within = folder.lexically_relative(job.place().absolute().path());
  if (within.empty() || *within.begin() == "..") return job.check_seal();
  TRAINWARDEN_ASSIGN_OR_RETURN(const storage::FileInfo info, job.place().storage().info(within.string()));
  if (info.kind == storage::FileInfo::Kind::kFolder) return Status();
  return Status(
      Code::kPermissionDenied,
      fmt::format("expected a folder, found {}", info.kind == storage::FileInfo::Kind::kFile ? "a file" : "a link"));
}

Status add_files(const jobs::JobRecord& job, const fs::path& folder, const std::string& prefix, JobFiles& found) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return Status();
  if (const Status may = check_folder(job, folder); !may.ok()) {
    found.left.push_back(fmt::format("the files in {}, outside of the job's folder, are not listed: {}",
                                     printable(folder.string()), may.message()));
    return Status();
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<fs::path> paths, files_within(folder, kMaxListedFiles));
  for (const fs::path& path : paths) {
    const std::uint64_t bytes = fs::file_size(folder / path, error);
    if (!error) found.files.push_back({prefix + "/" + path.string(), folder / path, bytes});
  }
  return Status();
}

// In the job's own folder, where a link may lead anywhere.
Status add_rule_logs(const jobs::JobRecord& job, std::vector<JobFile>& files) {
  const Result<std::vector<storage::Entry>> entries = job.place().storage().entries(jobs::kRuleFolder);
  if (entries.status().code() == Code::kNotFound) return Status();
  if (!entries.ok()) return entries.status();
  const fs::path folder = job.place().path() / jobs::kRuleFolder;
  for (const storage::Entry& entry : *entries) {
    const bool is_log = entry.info.kind == storage::FileInfo::Kind::kFile && entry.name.ends_with(".log");
    if (!is_log || files.size() >= kMaxListedFiles) continue;
    const std::string name = fmt::format("{}/{}", jobs::kRuleFolder, entry.name);
    files.push_back({name, folder / entry.name, entry.info.bytes});
  }
  return Status();
}

}  // namespace

Result<JobFiles> list_job_files(const jobs::JobRecord& job) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::JobSpec spec, spec_of(job));
  TRAINWARDEN_ASSIGN_OR_RETURN(const JobLayout layout, layout_of(job, spec));
  JobFiles found;
  TRAINWARDEN_RETURN_IF_ERROR(add_files(job, layout.results, "output", found));
  TRAINWARDEN_RETURN_IF_ERROR(add_files(job, layout.rule_output, kRuleOutput, found));
  TRAINWARDEN_RETURN_IF_ERROR(add_files(job, layout.kept_checkpoints, "checkpoints", found));
  TRAINWARDEN_RETURN_IF_ERROR(add_rule_logs(job, found.files));
  std::sort(found.files.begin(), found.files.end(), [](const JobFile& a, const JobFile& b) { return a.name < b.name; });
  return found;
}

Status fetch_job_file(const JobFile& file, const fs::path& folder) {
  const fs::path target = folder / file.name;
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  if (!error && fs::exists(fs::symlink_status(target, error))) {
    return Status(Code::kAlreadyExists, fmt::format("{} is there already", printable(target.string())));
  }
  if (!error || error == std::errc::no_such_file_or_directory) fs::copy_file(file.path, target, error);
  if (!error) return Status();
  return Status(Code::kInternal, fmt::format("cannot copy {} to {}: {}", printable(file.path.string()),
                                             printable(target.string()), error.message()));
}

}  // namespace trainwarden::workspace
