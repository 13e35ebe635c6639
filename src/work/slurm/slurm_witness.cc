#include "work/slurm/slurm_witness.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"

namespace trainwarden::slurm {
namespace {

constexpr std::streamoff kMaxTailBytes = std::streamoff{4} << 20;  // of a list that grows for years

std::string tail_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff bytes = file ? static_cast<std::streamoff>(file.tellg()) : 0;
  if (bytes <= 0) return "";
  const std::streamoff take = std::min(bytes, kMaxTailBytes);
  std::string text(static_cast<std::size_t>(take), '\0');
  file.seekg(bytes - take);
  file.read(text.data(), take);
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

std::vector<SlurmJob> completed_jobs(const SlurmCommands& commands) {
  if (config_value(commands, "JobCompType").value_or("") != "jobcomp/filetxt") return {};
  std::vector<SlurmJob> jobs = parse_scontrol_jobs(tail_of(config_value(commands, "JobCompLoc").value_or("")));
  for (SlurmJob& job : jobs) job.exit = {};
  return jobs;
}

std::vector<SlurmJob> accounted_jobs(const SlurmCommands& commands, const std::vector<std::int64_t>& ids) {
  const Result<std::string> text = commands.run(
      SlurmTool::kSacct, {"--noheader", "--parsable2", "--duplicates", "--format=JobIDRaw,State,ExitCode,JobName",
                          fmt::format("--jobs={}", fmt::join(ids, ","))});
  return text.ok() ? parse_sacct(*text) : std::vector<SlurmJob>();
}

void keep_last(std::vector<SlurmJob>& jobs, SlurmJob job) {
  std::erase_if(jobs, [&](const SlurmJob& other) { return other.id == job.id; });
  jobs.push_back(std::move(job));
}

}  // namespace

std::vector<SlurmJob> parse_sacct(std::string_view text) {
  std::vector<SlurmJob> jobs;
  for (const std::string& line : split_list(text, '\n')) {
    const std::vector<std::string> parts = split_list(line, '|');
    const std::optional<std::int64_t> id = parts.size() == 4 ? parse_int(parts[0]) : std::nullopt;
    if (!id || *id <= 0) continue;
    SlurmJob job;
    job.id = *id;
    job.states = {parts[1].substr(0, parts[1].find(' '))};
    job.exit = parse_exit_pair(parts[2]);
    job.name = parts[3];
    keep_last(jobs, std::move(job));
  }
  return jobs;
}

std::vector<SlurmJob> ask_witnesses(const SlurmCommands& commands, const std::vector<std::int64_t>& ids) {
  if (ids.empty()) return {};
  std::vector<SlurmJob> found = accounted_jobs(commands, ids);
  if (!found.empty()) return found;
  for (SlurmJob& job : completed_jobs(commands)) {
    if (std::find(ids.begin(), ids.end(), job.id) != ids.end()) keep_last(found, std::move(job));
  }
  return found;
}

}  // namespace trainwarden::slurm
