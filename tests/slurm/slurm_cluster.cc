#include "slurm_cluster.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <poll.h>
#include <test_paths.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/process/descriptors.h"

namespace trainwarden::slurm {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* kSystemFolders = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "slurm_cluster.py: %s\n", what.c_str());
  std::exit(1);
}

bool is_installed(const std::string& program) {
  for (const std::string& folder : split_list(kSystemFolders, ':')) {
    if (::access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

bool comes_true(const std::function<bool()>& condition, std::chrono::seconds within) {
  const auto end = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(100ms);
  }
  return true;
}

std::optional<std::string> SlurmCluster::missing() {
  for (const char* program : {"munged", "slurmctld", "slurmd", "sbatch"}) {
    if (!is_installed(program)) {
      return std::string(program) + " is not installed: ./dev test installs slurm-wlm and munge where it may";
    }
  }
  return std::nullopt;
}

SlurmCluster::SlurmCluster(const std::vector<std::string>& options) {
  Result<process::SocketPair> sockets = process::open_socket_pair();
  if (!sockets.ok()) fail(sockets.status().message());
  const fs::path work = folder_.path() / "cluster";
  fs::create_directory(work);
  process::Program program;
  program.command = {TW_PYTHON, TW_SOURCE_DIR "/tests/servers/slurm_cluster.py", "--work", work.string()};
  program.command.insert(program.command.end(), options.begin(), options.end());
  program.descriptors = {{STDIN_FILENO, sockets->theirs.get()}, {STDOUT_FILENO, sockets->theirs.get()}};
  Result<process::Child> child = process::Child::start(program);
  if (!child.ok()) fail(child.status().message());
  daemons_ = std::move(*child);
  talk_ = std::move(sockets->ours);
  sockets->theirs = FileDescriptor();
  const std::string ready = answer();
  if (!ready.starts_with("conf ")) fail("does not start");
  ::setenv("SLURM_CONF", ready.substr(5).c_str(), 1);
  Result<SlurmCommands> commands = SlurmCommands::find(kSystemFolders);
  if (!commands.ok()) fail(commands.status().message());
  commands_ = *commands;
}

SlurmCluster::~SlurmCluster() {
  talk_ = FileDescriptor();
  if (!daemons_->wait_for(60s)) daemons_->send(SIGKILL);
  daemons_->wait_for(60s);
  daemons_->reap();
}

void SlurmCluster::tell(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(talk_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) fail("does not listen");
  if (answer() != "done") fail("did not do: " + line);
}

std::string SlurmCluster::answer() {
  std::string line;
  for (;;) {
    pollfd ready{talk_.get(), POLLIN, 0};
    char letter = 0;
    if (::poll(&ready, 1, 90'000) != 1 || ::read(talk_.get(), &letter, 1) != 1) return "";
    if (letter == '\n') return line;
    line += letter;
  }
}

std::int64_t SlurmCluster::submit(std::vector<std::string> options, const std::string& script) {
  const fs::path path = folder() / ("script-" + std::to_string(++scripts_));
  std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
  options.insert(options.begin(), {"--parsable", "--mem=10M", "--output=/dev/null", "--chdir=" + folder().string()});
  options.push_back(path.string());
  const Result<std::string> answer = commands().run(SlurmTool::kSbatch, options);
  EXPECT_TRUE(answer.ok()) << answer.status().to_string();
  return parse_int(trim(answer.value_or("0"))).value_or(0);
}

std::optional<SlurmJob> SlurmCluster::find(const SlurmKey& key) const {
  const Result<std::vector<SlurmJob>> jobs = list_jobs(commands());
  const SlurmJob* const job = jobs.ok() ? find_job(*jobs, key) : nullptr;
  return job == nullptr ? std::nullopt : std::optional<SlurmJob>(*job);
}

Standing SlurmCluster::standing(std::int64_t id) const {
  const std::optional<SlurmJob> job = find(id);
  return job ? standing_of(job->states) : Standing::kUnknown;
}

std::optional<SlurmJob> SlurmCluster::await(std::int64_t id, Standing standing) const {
  std::optional<SlurmJob> job;
  const bool came = comes_true([&] {
    job = find(id);
    return job && standing_of(job->states) == standing;
  });
  return came ? job : std::nullopt;
}

std::optional<SlurmJob> SlurmCluster::await_end(std::int64_t id) const {
  std::optional<SlurmJob> job;
  const bool came = comes_true(
      [&] {
        job = find(id);
        return job && has_ended(standing_of(job->states));
      },
      std::chrono::seconds(180));
  return came ? job : std::nullopt;
}

}  // namespace trainwarden::slurm
