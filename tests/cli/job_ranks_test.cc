// Jobs of several processes on this machine: `tasks_per_node`, their logs, and what becomes of them.
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include <signal.h>

#include "job_harness.h"

namespace trainwarden::testing_cli {
namespace {

class JobRanks : public Jobs {
 protected:
  // A job of so many ranks that runs this line of a shell as each.
  Outcome submit_ranks(const std::string& name, int ranks, const std::string& script) const {
    return submit("name = '" + name + "'\nprogram = ['sh', '-c', '''" + script +
                  "''']\nhook = false\ntasks_per_node = " + std::to_string(ranks) + "\n");
  }

  std::string rank_log(const std::string& job, const std::string& rank) const {
    return job_command("logs", job, {"--rank", rank}).out;
  }

  // What a rank printed as a number: its process.
  pid_t await_process(const std::string& job, const std::string& rank) const {
    pid_t id = 0;
    await([&] { return static_cast<bool>(std::istringstream(rank_log(job, rank)) >> id); });
    return id;
  }
};

TEST_F(JobRanks, EachHasItsPlaceAndItsLog) {
  ASSERT_EQ(submit_ranks("three", 3,
                         "echo \"rank $RANK of $WORLD_SIZE, $LOCAL_RANK of $LOCAL_WORLD_SIZE at $MASTER_ADDR\"; "
                         "echo $OMP_NUM_THREADS threads; echo last")
                .exit_code,
            0);
  EXPECT_EQ(job_command("wait", "three").exit_code, 0) << job_command("logs", "three").out;
  EXPECT_EQ(describe("three").at("ranks"), 3);
  const std::string all = job_command("logs", "three").out;
  for (const std::string rank : {"0", "1", "2"}) {
    const std::string line = "rank " + rank + " of 3, " + rank + " of 3 at 127.0.0.1";
    EXPECT_EQ(rank_log("three", rank).find(line + "\n"), 0u) << rank_log("three", rank);
    EXPECT_NE(all.find("[" + rank + "] " + line + "\n"), std::string::npos) << all;
  }
  EXPECT_EQ(job_command("logs", "three", {"--rank", "all"}).out, all);
  const Outcome none = job_command("logs", "three", {"--rank", "3"});
  EXPECT_EQ(none.exit_code, 2) << none.err;
  EXPECT_NE(none.err.find("expected all or a rank of job three, which has 0 to 2; found 3"), std::string::npos)
      << none.err;
}

TEST_F(JobRanks, BoundToCoresNoneHasAnothersProcessor) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor cannot be divided";
  const Outcome submitted = submit(
      "name = 'bound'\nprogram = ['sh', '-c', 'grep Cpus_allowed_list /proc/self/status']\n"
      "hook = false\ntasks_per_node = 2\ncpus = 1\nbind = 'cores'\n");
  ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
  const int ended = job_command("wait", "bound").exit_code;
  const nlohmann::json job = describe("bound");
  if (ended != 0) {  // two threads of one core
    EXPECT_NE(job.at("message").get<std::string>().find("cannot have a core each"), std::string::npos) << job.dump(2);
    return;
  }
  const nlohmann::json ranks = job.at("setup").at("rank_cpus");
  ASSERT_EQ(ranks.size(), 2u) << job.dump(2);
  EXPECT_NE(ranks.at(0), ranks.at(1));
  for (const std::string rank : {"0", "1"}) {
    const std::string log = rank_log("bound", rank);
    EXPECT_EQ(std::stoi(log.substr(log.find_first_of("0123456789"))), ranks.at(std::stoul(rank)).at(0)) << log;
  }
}

TEST_F(JobRanks, LinesAsJsonSayWhoseTheyAre) {
  ASSERT_EQ(submit_ranks("lines", 2, "echo only; echo '[1] x'").exit_code, 0);
  EXPECT_EQ(job_command("wait", "lines").exit_code, 0);
  const std::string own = job_command("logs", "lines", {"--rank", "1", "--json"}).out;
  EXPECT_EQ(nlohmann::json::parse(own.substr(0, own.find('\n'))), (nlohmann::json{{"rank", 1}, {"text", "only"}}));
  std::istringstream merged(job_command("logs", "lines", {"--json"}).out);
  std::multiset<nlohmann::json> of_ranks;
  bool has_line_of_the_job = false;
  for (std::string line; std::getline(merged, line);) {
    const nlohmann::json one = nlohmann::json::parse(line);
    if (one.at("rank").is_null()) {
      has_line_of_the_job = true;
    } else {
      of_ranks.insert(one);
    }
  }
  EXPECT_TRUE(has_line_of_the_job) << "`trainwarden run` says where the run is";
  EXPECT_EQ(of_ranks, (std::multiset<nlohmann::json>{{{"rank", 0}, {"text", "only"}},
                                                     {{"rank", 0}, {"text", "[1] x"}},
                                                     {{"rank", 1}, {"text", "only"}},
                                                     {{"rank", 1}, {"text", "[1] x"}}}));
}

TEST_F(JobRanks, AreOneRunWithAWorkerEach) {
  ASSERT_EQ(submit(training("pair", "'--steps', '5'", "tasks_per_node = 2\n")).exit_code, 0);
  EXPECT_EQ(job_command("wait", "pair").exit_code, 0) << job_command("logs", "pair").out;
  for (const char* worker : {"rank-00000", "rank-00001"}) {
    EXPECT_TRUE(std::filesystem::exists(run_path("pair") / "journal" / worker)) << worker;
  }
}

TEST_F(JobRanks, WhatAllPrintIsCountedOnce) {
  ASSERT_EQ(submit_ranks("prints", 2, "for i in 1 2 3; do echo \"10/10 [==] - loss: 0.$i\"; done").exit_code, 0);
  EXPECT_EQ(job_command("wait", "prints").exit_code, 0) << job_command("logs", "prints").out;
  const Outcome shown = cli({"metrics", "show", "prints", "--period", "0", "--json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_EQ(shown.json().at("rows").size(), 3u) << shown.out;
}

TEST_F(JobRanks, OneThatIsKilledEndsTheOthersAndIsTheCause) {
  ASSERT_EQ(submit_ranks("killed", 2, "echo $$; exec sleep 300").exit_code, 0);
  const pid_t first = await_process("killed", "0");
  const pid_t second = await_process("killed", "1");
  ASSERT_EQ(::kill(second, SIGKILL), 0);
  const Outcome waited = job_command("wait", "killed");
  EXPECT_EQ(waited.exit_code, 1);
  EXPECT_EQ(waited.out, "killed: Failed (AlgorithmError: rank 1 was ended by signal 9)\n");
  EXPECT_FALSE(is_running(first));
  const nlohmann::json exit = describe("killed").at("exit");
  EXPECT_EQ(exit.at("rank"), 1);
  EXPECT_EQ(exit.at("signal"), SIGKILL);
  EXPECT_EQ(exit.at("code"), nullptr);
}

TEST_F(JobRanks, FewerGoOnWhereThatIsAskedFor) {
  // The first that ends takes the others with it: each waits until all have printed.
  const std::string script =
      "echo $WORLD_SIZE in $TRAINWARDEN_JOB_ATTEMPT; : > seen-$TRAINWARDEN_JOB_ATTEMPT-$RANK; "
      "while [ $(ls seen-$TRAINWARDEN_JOB_ATTEMPT-* | wc -l) -lt $WORLD_SIZE ]; do sleep 0.01; done; exit 3";
  ASSERT_EQ(submit_ranks("fewer", 3, script).exit_code, 0);
  EXPECT_EQ(job_command("wait", "fewer").exit_code, 1);
  const Outcome more = job_command("resume", "fewer", {"--ranks", "4"});
  EXPECT_EQ(more.exit_code, 2);
  EXPECT_NE(more.err.find("expected 1 to 3, found 4"), std::string::npos) << more.err;
  EXPECT_EQ(job_command("resume", "fewer", {"--ranks", "2", "--wait"}).exit_code, 1);
  EXPECT_EQ(job_command("resume", "fewer", {"--wait"}).exit_code, 1);
  EXPECT_EQ(rank_log("fewer", "1"), "3 in 1\n2 in 2\n2 in 3\n");
  EXPECT_EQ(rank_log("fewer", "2"), "3 in 1\n");
}

TEST_F(JobRanks, WithRetriesItGoesOnAfterOneWasKilledOrAskedForIt) {
  const std::string script =
      "echo \"attempt $TRAINWARDEN_JOB_ATTEMPT\"; case $TRAINWARDEN_JOB_ATTEMPT$RANK in 11) kill -9 $$ ;; 20) exit 75 "
      ";; "
      "3?) exit 0 ;; esac; exec sleep 300";
  const std::string spec = "program = ['sh', '-c', '''" + script + "''']\nhook = false\ntasks_per_node = 2\n";
  ASSERT_EQ(submit("name = 'again'\nretries = 2\n" + spec).exit_code, 0);
  EXPECT_EQ(job_command("wait", "again").exit_code, 0) << job_command("logs", "again").out;
  EXPECT_EQ(rank_log("again", "0"), "attempt 1\nattempt 2\nattempt 3\n");
  ASSERT_EQ(submit("name = 'once'\nretries = 1\n" + spec).exit_code, 0);
  const Outcome waited = job_command("wait", "once");
  EXPECT_EQ(waited.out, "once: Failed (AlgorithmError: rank 0 has ended with exit code 75)\n");
}

TEST_F(JobRanks, AreEndedWithTheirAgent) {
  ASSERT_EQ(submit_ranks("orphans", 2, "echo $$; exec sleep 300").exit_code, 0);
  const pid_t first = await_process("orphans", "0");
  const pid_t second = await_process("orphans", "1");
  const pid_t starter = stat_of(first).parent;
  const pid_t agent = stat_of(stat_of(starter).parent).parent;
  ASSERT_GT(agent, 1);
  await_status("orphans", "Training");
  ASSERT_EQ(::kill(agent, SIGKILL), 0);
  for (const pid_t id : {first, second, starter}) EXPECT_TRUE(ends_soon(id)) << id;
  await_status("orphans", "Failed");
  EXPECT_EQ(describe("orphans").at("cause"), "agent lost");
}

TEST_F(JobRanks, AllAreToldToStopAndNoneHasFailed) {
  ASSERT_EQ(
      submit_ranks("stops", 2, "trap \"echo saved; exit 4\" TERM; echo ready; while :; do sleep 0.05; done").exit_code,
      0);
  for (const char* rank : {"0", "1"}) await([&] { return rank_log("stops", rank) == "ready\n"; });
  await_status("stops", "Training");
  EXPECT_EQ(job_command("stop", "stops", {"--wait"}).exit_code, 0);
  const nlohmann::json described = describe("stops");
  EXPECT_EQ(described.at("secondary_status"), "Stopped");
  EXPECT_EQ(described.at("exit").at("rank"), nullptr);
  for (const char* rank : {"0", "1"}) EXPECT_EQ(rank_log("stops", rank), "ready\nsaved\n");
}

TEST_F(JobRanks, TheirProcessorsAreCountedTogether) {
  const Outcome wrong = submit("program = 'true'\ntasks_per_node = 2\ncpus = 4096\n");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("the tasks of a node want 8192 processors"), std::string::npos) << wrong.err;
}

#ifdef TW_PYTHON_WITH_TORCH
// init_process_group() as under torchrun.
TEST_F(JobRanks, ProcessesOfPyTorchFindOneAnother) {
  std::ofstream(folder_ / "train.py") << "import torch\n"
                                         "import torch.distributed as dist\n"
                                         "dist.init_process_group('gloo')\n"
                                         "sum = torch.tensor([float(dist.get_rank() + 1)])\n"
                                         "dist.all_reduce(sum)\n"
                                         "print('sum', sum.item(), flush=True)\n";
  const std::string program = std::string(TW_PYTHON_WITH_TORCH) + "', '" + (folder_ / "train.py").string();
  ASSERT_EQ(submit("name = 'gloo'\nprogram = ['" + program + "']\nhook = false\ntasks_per_node = 2\n").exit_code, 0);
  EXPECT_EQ(job_command("wait", "gloo").exit_code, 0) << job_command("logs", "gloo").out;
  for (const char* rank : {"0", "1"}) {
    EXPECT_NE(rank_log("gloo", rank).find("sum 3.0\n"), std::string::npos) << rank_log("gloo", rank);
  }
}
#endif

}  // namespace
}  // namespace trainwarden::testing_cli
