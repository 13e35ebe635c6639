// Jobs that are made from others: `job repeat`, and arrays.
#include <fstream>

#include "job_harness.h"

namespace trainwarden::testing_cli {
namespace {

using JobRepeat = Jobs;

TEST_F(JobRepeat, RunsTheSourcesOfThenWhateverIsThereNow) {
  std::filesystem::create_directories(folder_ / "src");
  std::ofstream(folder_ / "src" / "train.py") << "import os, sys\nprint('first', sys.argv[1:], os.environ['MARK'])\n";
  const std::string spec =
      "name = 'old'\nentry_point = 'train.py'\nsource_dir = 'src'\nhook = false\n[hyperparameters]\nlr = 0.1\nseed = "
      "3\n";
  ::setenv("MARK", "then", 1);
  ASSERT_EQ(submit(spec, {"--wait"}).exit_code, 0);
  ::setenv("MARK", "now", 1);
  std::ofstream(folder_ / "src" / "train.py") << "print('second')\n";
  std::filesystem::remove(folder_ / "job.toml");
  const Outcome repeated = job_command("repeat", "old", {"--set", "lr=0.5", "--wait"});
  ::unsetenv("MARK");
  EXPECT_EQ(repeated.exit_code, 0) << repeated.err;
  EXPECT_EQ(repeated.out.find("old-repeat-1\n"), 0u) << repeated.out;
  EXPECT_NE(repeated.out.find("first ['--lr', '0.5', '--seed', '3'] then\n"), std::string::npos) << repeated.out;
  EXPECT_NE(repeated.err.find("not as in old: code: "), std::string::npos) << repeated.err;
  EXPECT_NE(repeated.err.find("not as in old: environment: other values now: MARK"), std::string::npos) << repeated.err;
  EXPECT_EQ(describe("old-repeat-1").at("repeats"), "old");
  // What it was made from may go.
  ASSERT_EQ(job_command("rm", "old").exit_code, 0);
  std::filesystem::remove_all(folder_ / "src");
  const Outcome again = job_command("repeat", "old-repeat-1", {"--name", "third", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.json().at("job"), "third");
  EXPECT_EQ(again.json().at("code_hash").get<std::string>().find("sha256:"), 0u);
  EXPECT_EQ(job_command("wait", "third").exit_code, 0);
  EXPECT_NE(job_command("logs", "third").out.find("first ['--lr', '0.5', '--seed', '3']"), std::string::npos);
}

TEST_F(JobRepeat, SaysWhatItCannotKnow) {
  ASSERT_EQ(submit("name = 'plain'\nprogram = 'true'\nhook = false\n", {"--wait"}).exit_code, 0);
  const Outcome repeated = job_command("repeat", "plain", {"--wait"});
  EXPECT_EQ(repeated.exit_code, 0) << repeated.err;
  EXPECT_NE(repeated.err.find("code: was not copied, since the job has no source_dir"), std::string::npos);
  EXPECT_EQ(job_command("repeat", "plain", {"--set", "lr"}).exit_code, 2);
  const Outcome taken = job_command("repeat", "plain", {"--name", "plain"});
  EXPECT_EQ(taken.exit_code, 1) << taken.err;
  EXPECT_EQ(job_command("repeat", "plan").exit_code, 1);
}

using JobArrays = Jobs;

TEST_F(JobArrays, RunOnceForEachCombination) {
  const std::string spec =
      "name = 'sweep'\nprogram = ['echo', 'with']\nhook = false\ncpus = 1\n[hyperparameters]\nlr = 9\nn = 1\n";
  const Outcome submitted = submit(spec, {"--array", "lr=0.1,0.2", "--array", "seed=1..2"});
  ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
  EXPECT_EQ(submitted.out, "sweep-0\nsweep-1\nsweep-2\nsweep-3\n");
  const Outcome waited = cli({"job", "wait", "--array", "sweep", "--jobs", jobs().string()});
  EXPECT_EQ(waited.exit_code, 0) << waited.out << waited.err;
  EXPECT_NE(job_command("logs", "sweep-1").out.find("with --lr 0.1 -n 1 --seed 2\n"), std::string::npos)
      << job_command("logs", "sweep-1").out;
  EXPECT_NE(job_command("logs", "sweep-2").out.find("with --lr 0.2 -n 1 --seed 1\n"), std::string::npos);
  EXPECT_EQ(describe("sweep-3").at("array"), "sweep");
  // A job whose name looks like it is no part of it.
  ASSERT_EQ(submit("name = 'sweep-4'\nprogram = 'true'\nhook = false\n", {"--wait"}).exit_code, 0);
  const nlohmann::json listed = cli({"job", "ls", "--array", "sweep", "--jobs", jobs().string(), "--json"}).json();
  EXPECT_EQ(listed.at("jobs").size(), 4u);
  const Outcome again = submit(spec, {"--array", "seed=3..4"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.err.find("there is a job or a run \"sweep-0\" already"), std::string::npos) << again.err;
}

TEST_F(JobArrays, AreStoppedTogether) {
  const std::string spec =
      "name = 'long'\nprogram = ['sh', '-c', 'exec sleep 300']\nhook = false\n[array]\nseed = '1..3'\n";
  const Outcome submitted = submit(spec);
  ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
  await_status("long-0", "Training");
  const Outcome stopped = cli({"job", "stop", "--array", "long", "--wait", "--jobs", jobs().string()});
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  for (const char* name : {"long-0", "long-1", "long-2"}) EXPECT_EQ(describe(name).at("secondary_status"), "Stopped");
  EXPECT_EQ(cli({"job", "stop", "--array", "none", "--jobs", jobs().string()}).exit_code, 1);
  EXPECT_EQ(cli({"job", "stop", "--jobs", jobs().string()}).exit_code, 2);
}

TEST_F(JobArrays, OneMistakeMakesNothing) {
  EXPECT_EQ(submit("name = 'x'\nprogram = 'true'\n", {"--array", "lr"}).exit_code, 2);
  EXPECT_EQ(submit("name = 'x'\nprogram = 'true'\n[array]\nlr = 1\n").exit_code, 2);
  EXPECT_EQ(submit("name = 'x'\nprogram = 'true'\n", {"--array", "a=1..2000"}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(jobs()));
}

}  // namespace
}  // namespace trainwarden::testing_cli
