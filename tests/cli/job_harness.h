// What the tests of jobs share: a folder of jobs whose jobs have all ended when the test has.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/types.h>

#include "cli_harness.h"
#include "core/process/running_testing.h"

namespace trainwarden::testing_cli {

using process::ends_soon;
using process::is_running;
using process::stat_of;

// Those that `trainwarden job ROLE` starts for this folder of jobs and leaves behind; they are nobody's children.
std::vector<pid_t> processes_of(const std::filesystem::path& jobs, const std::string& role);

class Jobs : public CliTest {
 protected:
  // Every job of a test has ended when the test has, and who writes into its folder has, too: an agent after its job,
  // and the keeper, which an agent starts where none is there.
  void TearDown() override {
    if (std::filesystem::exists(jobs())) {
      for (const auto& job : std::filesystem::directory_iterator(jobs())) {
        const std::string name = job.path().filename().string();
        if (name != ".queue") job_command("stop", name, {"--wait"});
      }
      for (const pid_t agent : processes_of(jobs(), "agent")) EXPECT_TRUE(ends_soon(agent));
      for (const pid_t keeper : processes_of(jobs(), "keeper")) {
        ::kill(keeper, SIGTERM);
        EXPECT_TRUE(ends_soon(keeper));
      }
    }
    CliTest::TearDown();
  }

  std::filesystem::path jobs() const { return folder_ / "jobs"; }

  Outcome job_command(const std::string& command, const std::string& job, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"job", command, job, "--jobs", jobs().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli(arguments);
  }

  nlohmann::json describe(const std::string& job) const { return job_command("describe", job, {"--json"}).json(); }

  Outcome submit(const std::string& spec, std::vector<std::string> more = {}) const {
    const std::string file = (folder_ / "job.toml").string();
    std::ofstream(file) << spec;
    std::vector<std::string> arguments = {"submit", file, "--jobs", jobs().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli(arguments);
  }

  // A job that trains the tiny model with these options.
  static std::string training(const std::string& name, const std::string& options, const std::string& more = "") {
    return "name = '" + name + "'\nprogram = ['" + tiny_training().string() + "', " + options + "]\n" + more;
  }

  void await(const std::function<bool()>& is_so) const {
    ASSERT_TRUE(trainwarden::await(is_so)) << cli({"job", "ls", "--jobs", jobs().string()}).out;
  }
  // Whoever was started for a folder of jobs has ended, and with that all that was to be done there is done.
  static void await_nobody_works_in(const std::filesystem::path& jobs) {
    for (const char* role : {"keeper", "agent", "ssh-follower", "deliverer"}) {
      EXPECT_TRUE(trainwarden::await([&] { return processes_of(jobs, role).empty(); })) << role;
    }
  }
  void await_status(const std::string& job, const std::string& status) const {
    await([&] { return describe(job).at("secondary_status") == status; });
  }
  void await_run(const std::string& job) const {
    await([&] { return std::filesystem::exists(run_path(job) / "run.json"); });
  }
  // The first line that its program prints.
  std::string await_line(const std::string& job) const {
    std::string printed;
    await([&] { return (printed = job_command("logs", job).out).find('\n') != std::string::npos; });
    return printed.substr(0, printed.find('\n'));
  }

  pid_t keeper() const {
    for (const auto& host : std::filesystem::directory_iterator(jobs() / ".queue")) {
      std::ifstream lease(host.path() / "keeper.lease");
      if (lease) return nlohmann::json::parse(lease).at("pid").get<pid_t>();
    }
    return -1;
  }
};

}  // namespace trainwarden::testing_cli
