#include "work/slurm/slurm_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/folder_testing.h"
#include "core/process/captured_output.h"

namespace trainwarden::slurm {
namespace {

BatchRequest request() {
  BatchRequest request;
  request.name = "bert-7";
  request.comment = "trainwarden-0123";
  request.folder = "/srv/jobs/bert-7";
  request.output = "/srv/100%/agent.log";
  request.max_run_seconds = 3600;
  request.command = {"/usr/bin/trainwarden", "job", "agent", "bert-7", "--jobs", "/srv/jobs"};
  return request;
}

std::string joined(const BatchRequest& request) {
  return fmt::format("{}", fmt::join(sbatch_arguments(request, "/srv/batch.sh"), " "));
}

TEST(SlurmBatch, AlwaysSaysHowMuchMemoryAndTimeItNeeds) {
  EXPECT_EQ(joined(request()),
            "--parsable --open-mode=append --export=NONE --job-name=bert-7 --comment=trainwarden-0123 "
            "--chdir=/srv/jobs/bert-7 --output=/srv/100%%/agent.log --nodes=1 --ntasks-per-node=1 --cpus-per-task=1 "
            "--mem=4096M --time=69 --signal=B:TERM@480 --no-requeue /srv/batch.sh");
}

TEST(SlurmBatch, SaysAllThatTheUserHasChosen) {
  BatchRequest all = request();
  all.nodes = 2;
  all.tasks_per_node = 4;
  all.cpus_per_task = 8;
  all.gpus_per_node = 4;
  all.memory_bytes = (std::uint64_t{64} << 30) + 1;
  all.requeue = true;
  all.choice = {"gpu", "vision", "long", "a100"};
  EXPECT_NE(joined(all).find("--nodes=2 --ntasks-per-node=4 --cpus-per-task=8 --mem=65537M --gres=gpu:4 "),
            std::string::npos);
  EXPECT_NE(joined(all).find("--requeue --partition=gpu --account=vision --qos=long --constraint=a100 /srv/batch.sh"),
            std::string::npos);
}

TEST(SlurmBatch, AHigherPriorityIsLessNice) {
  BatchRequest one = request();
  one.priority = -5;
  EXPECT_NE(joined(one).find(" --nice=5 "), std::string::npos) << joined(one);
  one.priority = 7;
  EXPECT_NE(joined(one).find(" --nice=-7 "), std::string::npos) << joined(one);
}

// The signal may come a minute before its time, and must not come before the job's own limit.
TEST(SlurmBatch, LeavesTheAgentTimeAfterItsOwnLimit) {
  for (const double max_run : {1.0, 59.0, 60.0, 3600.0, 86400.0}) {
    BatchRequest one = request();
    one.max_run_seconds = max_run;
    EXPECT_GE(static_cast<double>(limit_minutes(one)) * 60 - lead_seconds(one) - 60, max_run);
    EXPECT_GE(lead_seconds(one), 120 + one.grace_seconds);
  }
  BatchRequest forever = request();
  forever.max_run_seconds = 1e300;
  EXPECT_EQ(limit_minutes(forever), 60 * 24 * 365);
}

TEST(SlurmBatch, TheScriptBecomesTheAgentWithItsWordsUnchanged) {
  const TestFolder folder;
  BatchRequest one = request();
  const std::string odd = "it's a $HOME `date` \"x\" \\ \n end";
  one.environment = {{"ODD", odd}, {"NO NAME", "left out"}, {"9", "left out"}};
  one.command = {"/bin/sh", "-c", "printf '%s|%s|%s' \"$ODD\" \"$1\" $$", "sh", odd};
  const std::string path = (folder.path() / "batch.sh").string();
  std::ofstream(path) << batch_script(one);
  process::Program program;
  program.command = {"/bin/sh", "-c", "echo $$; exec /bin/sh " + path};
  const auto answer = process::capture_output(program, 10'000, std::chrono::seconds(60));
  ASSERT_TRUE(answer.ok());
  const std::string id = answer->text.substr(0, answer->text.find('\n'));
  EXPECT_EQ(answer->text, id + "\n" + odd + "|" + odd + "|" + id);  // one process from the shell to the agent
}

TEST(SlurmBatch, CarriesWhatFindsTheProgramAndNothingSecret) {
  const auto carried = environment_to_carry({"PATH=/opt/bin:/bin", "HOME=/home/anna", "AWS_SECRET_ACCESS_KEY=x",
                                             "LANG=C", "TRAINWARDEN_LOG_LEVEL=debug", "TRAINWARDEN_JOB_DIR=/jobs/other",
                                             "CUDA_VISIBLE_DEVICES=3", "VIRTUAL_ENV=", "no equals sign"});
  const std::map<std::string, std::string> expected = {
      {"PATH", "/opt/bin:/bin"}, {"LANG", "C"}, {"TRAINWARDEN_LOG_LEVEL", "debug"}, {"VIRTUAL_ENV", ""}};
  EXPECT_EQ(carried, expected);
}

}  // namespace
}  // namespace trainwarden::slurm
