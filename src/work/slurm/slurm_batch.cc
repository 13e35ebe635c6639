#include "work/slurm/slurm_batch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/hook_variables.h"
#include "core/base/job_variables.h"

namespace trainwarden::slurm {
namespace {

constexpr double kUploadSeconds = 300;  // to store results in
constexpr double kEarlySeconds = 60;    // so much before its time may --signal come
constexpr std::int64_t kMaxMinutes = 60 * 24 * 365;
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

constexpr std::array<std::string_view, 13> kCarried = {
    "PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", "LANG", "LC_ALL", "CONDA_PREFIX", "CONDA_DEFAULT_ENV",
    // Where podman and apptainer keep images, and how they start containers.
    "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "CONTAINERS_REGISTRIES_CONF", "APPTAINER_CACHEDIR",
    "APPTAINER_TMPDIR"};
constexpr std::array<std::string_view, 3> kOfOneProcess = {variable::kRunDir, variable::kJobName, variable::kJobDir};

// For sh: 'it'\''s'.
std::string for_shell(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

// A path in which Slurm replaces nothing.
std::string literal_path(std::string_view path) {
  std::string out;
  for (const char c : path) out += c == '%' ? "%%" : std::string(1, c);
  return out;
}

bool is_name(std::string_view name) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
  return !name.empty() && name.find_first_not_of(kLetters) == std::string_view::npos &&
         !(name[0] >= '0' && name[0] <= '9');
}

bool is_carried(std::string_view name) {
  if (std::find(kOfOneProcess.begin(), kOfOneProcess.end(), name) != kOfOneProcess.end()) return false;
  return name.starts_with(variable::kSwitch) || std::find(kCarried.begin(), kCarried.end(), name) != kCarried.end();
}

}  // namespace

double lead_seconds(const BatchRequest& request) {
  return request.grace_seconds + kUploadSeconds + kEarlySeconds;
}

std::int64_t limit_minutes(const BatchRequest& request) {
  const double minutes = std::ceil((request.max_run_seconds + kEarlySeconds + lead_seconds(request)) / 60);
  return static_cast<std::int64_t>(std::min(minutes, static_cast<double>(kMaxMinutes)));
}

std::vector<std::string> sbatch_arguments(const BatchRequest& request, const std::string& script) {
  std::vector<std::string> words = {"--parsable", "--open-mode=append", "--export=NONE"};
  const auto add = [&words](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("--{}={}", option, value));
  };
  add("job-name", request.name);
  add("comment", request.comment);
  add("chdir", request.folder);
  add("output", literal_path(request.output));
  add("nodes", std::to_string(request.nodes));
  add("ntasks-per-node", std::to_string(request.tasks_per_node));
  add("cpus-per-task", std::to_string(request.cpus_per_task));
  add("mem", fmt::format("{}M", std::max<std::uint64_t>((request.memory_bytes + kMebibyte - 1) / kMebibyte, 1)));
  if (request.gpus_per_node > 0) add("gres", fmt::format("gpu:{}", request.gpus_per_node));
  add("time", std::to_string(limit_minutes(request)));
  add("signal", fmt::format("B:TERM@{}", std::llround(lead_seconds(request))));
  words.emplace_back(request.requeue ? "--requeue" : "--no-requeue");
  if (request.priority != 0) add("nice", std::to_string(-request.priority));
  add("partition", request.choice.partition);
  add("account", request.choice.account);
  add("qos", request.choice.qos);
  add("constraint", request.choice.constraint);
  words.push_back(script);
  return words;
}

bool may_raise_priority(const SlurmCommands& commands) {
  // "SlurmUser               = slurm(64030)"
  return ::geteuid() == 0 ||
         config_value(commands, "SlurmUser").value_or("").ends_with(fmt::format("({})", ::geteuid()));
}

std::string batch_script(const BatchRequest& request) {
  std::string script = fmt::format("#!/bin/sh\n# The agent of the job {}, which starts its program.\n", request.name);
  script += "export SLURM_EXPORT_ENV=ALL\n";  // else srun would hand on as little as sbatch did
  for (const auto& [name, value] : request.environment) {
    if (is_name(name)) script += fmt::format("export {}={}\n", name, for_shell(value));
  }
  script += "exec";
  for (const std::string& word : request.command) script += " " + for_shell(word);
  return script + "\n";
}

std::map<std::string, std::string> environment_to_carry(const std::vector<std::string>& environment) {
  std::map<std::string, std::string> carried;
  for (const std::string& one : environment) {
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = one.substr(0, equals);
    if (is_name(name) && is_carried(name)) carried[name] = one.substr(equals + 1);
  }
  return carried;
}

}  // namespace trainwarden::slurm
