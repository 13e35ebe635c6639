// `trainwarden submit` and `trainwarden job`, as a user types them.
#include <csignal>
#include <fstream>

#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job_harness.h"

namespace trainwarden::testing_cli {
namespace {

TEST_F(Jobs, AJobGoesOnByItselfAndIsARun) {
  const Outcome submitted = submit(training("first", "'--steps', '20'"));
  EXPECT_EQ(submitted.exit_code, 0) << submitted.err;
  EXPECT_EQ(submitted.out, "first\n");
  const Outcome waited = job_command("wait", "first");
  EXPECT_EQ(waited.exit_code, 0) << waited.err << job_command("logs", "first").out;
  EXPECT_EQ(waited.out, "first: Completed (the program has ended with exit code 0)\n");
  EXPECT_NE(cli({"show", "first"}).out.find("20"), std::string::npos);
  const nlohmann::json described = describe("first");
  EXPECT_EQ(described.at("status"), "Completed");
  EXPECT_EQ(described.at("exit").at("code"), 0);
  ASSERT_EQ(described.at("transitions").size(), 4u);
  EXPECT_EQ(described["transitions"][2].at("secondary_status"), "Training");
  EXPECT_EQ(described.at("run"), run_path("first").string());
  EXPECT_NE(described.at("spec").get<std::string>().find("first"), std::string::npos);
  const nlohmann::json wire = job_command("describe", "first", {"--format", "sagemaker", "--region", "eu-1"}).json();
  EXPECT_EQ(wire.at("TrainingJobArn"), "arn:aws:sagemaker:eu-1:000000000000:training-job/first");
  EXPECT_EQ(wire.at("TrainingJobStatus"), "Completed");
  EXPECT_EQ(wire.at("DebugHookConfig").at("LocalPath"), run_path("first").string());
  EXPECT_FALSE(wire.at("FinalMetricDataList").empty());
  EXPECT_EQ(job_command("describe", "first", {"--region", "eu-1"}).exit_code, 2);
  const nlohmann::json listed = cli({"job", "ls", "--jobs", jobs().string(), "--json"}).json();
  ASSERT_EQ(listed.at("jobs").size(), 1u);
  EXPECT_EQ(listed["jobs"][0].at("secondary_status"), "Completed");
  EXPECT_NE(job_command("logs", "first").out.find("trainwarden: run first"), std::string::npos);
}

// A folder of jobs that somebody hands on holds a job that waits for its turn. Whoever looks at it starts nothing.
TEST_F(Jobs, NothingOfAFolderThatWasHandedOnIsStarted) {
  namespace fs = std::filesystem;
  const fs::path ran = folder_ / "ran";
  ASSERT_EQ(
      submit("name = 'gift'\nprogram = ['sh', '-c', 'echo ran >> " + ran.string() + "']\nhook = false\n", {"--wait"})
          .exit_code,
      0);
  ASSERT_TRUE(fs::remove(ran));
  const fs::path gift = folder_ / "gift";
  fs::copy(jobs(), gift, fs::copy_options::recursive);
  fs::remove_all(gift / "gift" / "state");
  fs::create_directory(gift / "gift" / "state");
  for (const fs::directory_entry& host : fs::directory_iterator(gift / ".queue")) {
    fs::create_directories(host.path() / "jobs");
    std::ofstream(host.path() / "jobs" / "gift");
  }
  EXPECT_EQ(cli({"job", "ls", "--jobs", gift.string()}).exit_code, 0);
  const Outcome described = cli({"job", "describe", "gift", "--jobs", gift.string()});
  EXPECT_EQ(described.exit_code, 0);
  EXPECT_NE(described.err.find("job gift was not made by this user in this folder"), std::string::npos)
      << described.err;
  EXPECT_EQ(cli({"job", "resume", "gift", "--jobs", gift.string()}).exit_code, 1);
  await_nobody_works_in(gift);
  EXPECT_FALSE(fs::exists(ran));
  EXPECT_NE(cli({"job", "ls", "--jobs", gift.string()}).out.find("Pending"), std::string::npos);
}

TEST_F(Jobs, TheRunOfAJobThatWasHandedOnIsLeftAlone) {
  namespace fs = std::filesystem;
  ASSERT_EQ(submit(training("gift", "'--steps', '3'"), {"--wait"}).exit_code, 0);
  const fs::path run = run_path("gift");
  ASSERT_TRUE(fs::exists(run));
  fs::create_directories(folder_ / "handed");
  fs::copy(jobs() / "gift", folder_ / "handed/gift", fs::copy_options::recursive);
  const auto remove = [this](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"job", "rm", "gift", "--jobs", (folder_ / "handed").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli(arguments);
  };
  const Outcome refused = remove({"--run"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("leave out --run"), std::string::npos) << refused.err;
  EXPECT_EQ(remove({}).exit_code, 0);
  EXPECT_TRUE(fs::exists(run));
  EXPECT_EQ(job_command("rm", "gift", {"--run"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(run));
}

// A job that was handed on names a host, and programs on it. Nothing connects there, whatever is asked of the job.
TEST_F(Jobs, NothingConnectsToTheHostOfAJobThatWasHandedOn) {
  namespace fs = std::filesystem;
  ASSERT_EQ(submit("name = 'gift'\nprogram = ['true']\nhook = false\n", {"--wait"}).exit_code, 0);
  const fs::path job = folder_ / "handed/gift";
  fs::create_directories(job / "state");
  fs::create_directories(job / "ssh");
  nlohmann::json order = nlohmann::json::parse(read_file(jobs() / "gift/job.json"));
  order["backend"] = "ssh";
  order["host"] = "gpu1";
  std::ofstream(job / "job.json") << order;
  std::ofstream(job / "ssh/target.json") << R"({"host":"gpu1","folder":"/tmp","path":["/tmp/evil"],"id":"ab"})";
  std::ofstream(folder_ / "ssh") << "#!/bin/sh\ntouch " << folder_ / "connected"
                                 << "\nexit 255\n";
  fs::permissions(folder_ / "ssh", fs::perms::owner_all);
  const auto refused = [&](const std::string& command) {
    const Outcome outcome = shell("PATH='" + folder_.string() + "':$PATH timeout 20 \"$TW\" job " + command +
                                  " --jobs '" + (folder_ / "handed").string() + "'");
    if (!command.starts_with("ls")) {
      EXPECT_NE(outcome.err.find("job gift was not made by this user"), std::string::npos) << command << outcome.err;
    }
    return outcome.exit_code;
  };
  EXPECT_EQ(refused("ls"), 0);
  EXPECT_EQ(refused("stop gift"), 1);
  await_nobody_works_in(folder_ / "handed");
  EXPECT_FALSE(fs::exists(folder_ / "connected"));
  EXPECT_FALSE(fs::exists(job / "ssh/follower.log"));
}

TEST_F(Jobs, WaitingHandsOnWhatItPrintsAndHowItEnds) {
  const Outcome outcome = submit("program = ['sh', '-c', 'echo hello; exit 3']\nbase_job_name = 'sh'\n", {"--wait"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out.find("sh-20"), 0u) << outcome.out;
  EXPECT_NE(outcome.out.find("hello\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("Failed (AlgorithmError: the program has ended with exit code 3)"), std::string::npos)
      << outcome.err;
}

TEST_F(Jobs, AScriptGetsItsHyperparametersAndItsEnvironment) {
  std::ofstream(folder_ / "train.py")
      << "import os, sys\nprint(sys.argv[1:], os.environ['A'], os.environ['TRAINWARDEN_JOB'])\n";
  const Outcome outcome = submit(
      "name = 'script'\nentry_point = 'train.py'\nhook = false\n[hyperparameters]\nepochs = 3\nlr = 0.1\n"
      "[environment]\nA = 'b c'\n",
      {"--wait"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("['--epochs', '3', '--lr', '0.1'] b c script\n"), std::string::npos) << outcome.out;
}

// What is queued is what was submitted, whatever becomes of the sources meanwhile.
TEST_F(Jobs, SourcesAreThoseOfTheSubmission) {
  std::filesystem::create_directories(folder_ / "src/lib");
  std::ofstream(folder_ / "src/lib/model.py") << "NAME = 'as submitted'\n";
  std::ofstream(folder_ / "src/train.py")
      << "import os, time\nwhile not os.path.exists(os.environ['GO']): time.sleep(0.01)\n"
         "from lib import model\nprint(model.NAME)\n"
         "print(open(os.environ['SM_CHANNEL_TRAINING'] + '/a.txt').read())\n";
  std::filesystem::create_directories(folder_ / "data");
  std::ofstream(folder_ / "data/a.txt") << "numbers";
  const std::string go = (folder_ / "go").string();
  ASSERT_EQ(submit("name = 'sources'\nsource_dir = 'src'\nentry_point = 'train.py'\nhook = false\ninputs = 'data'\n"
                   "[environment]\nGO = '" +
                   go + "'\n")
                .exit_code,
            0);
  std::ofstream(folder_ / "src/lib/model.py") << "NAME = 'changed'\n";
  std::ofstream(go).close();
  EXPECT_EQ(job_command("wait", "sources").exit_code, 0) << job_command("logs", "sources").out;
  EXPECT_NE(job_command("logs", "sources").out.find("as submitted\nnumbers\n"), std::string::npos);
  const Outcome bucket = submit("program = 'true'\ninputs = 's3://mine/data'\n");
  EXPECT_EQ(bucket.exit_code, 2);
  EXPECT_NE(bucket.err.find("no credentials for S3"), std::string::npos) << bucket.err;
}

TEST_F(Jobs, WhatItLeavesIsListedFetchedAndRemoved) {
  ASSERT_EQ(submit("name = 'leaves'\nprogram = ['sh', '-c', 'echo 1 > $SM_MODEL_DIR/m']\nhook = false\n", {"--wait"})
                .exit_code,
            0);
  const nlohmann::json files = job_command("files", "leaves", {"--json"}).json().at("files");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].at("name"), "output/model.tar.gz");
  const std::string to = (folder_ / "fetched").string();
  const Outcome fetched = job_command("fetch", "leaves", {"--to", to});
  EXPECT_EQ(fetched.out, to + "/output/model.tar.gz\n") << fetched.err;
  EXPECT_EQ(job_command("fetch", "leaves", {"--to", to}).exit_code, 1) << "nothing is written over";
  EXPECT_NE(job_command("fetch", "leaves", {"nothing"}).err.find("`job files leaves` lists them"), std::string::npos);
  ASSERT_EQ(submit("name = 'runs'\nprogram = ['sleep', '300']\nhook = false\n").exit_code, 0);
  EXPECT_NE(job_command("rm", "runs").err.find("stop it first"), std::string::npos);
  EXPECT_EQ(job_command("rm", "leaves").out, "removed leaves\n");
  EXPECT_FALSE(std::filesystem::exists(jobs() / "leaves"));
  EXPECT_EQ(job_command("rm", "leaves").exit_code, 1);
}

// The keeper of the queue was started by another job's submission, and the agents by the keeper.
TEST_F(Jobs, AJobHasTheEnvironmentOfItsSubmission) {
  ASSERT_EQ(submit("name = 'before'\nprogram = ['sleep', '300']\nhook = false\ncpus = 1\n").exit_code, 0);
  await_status("before", "Training");
  ::setenv("OF_THE_SECOND", "yes", 1);
  const Outcome second = submit(
      "name = 'second'\nprogram = ['sh', '-c', 'echo $OF_THE_SECOND $TRAINWARDEN_JOB']\nhook = false\ncpus = 1\n");
  ::unsetenv("OF_THE_SECOND");
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(job_command("wait", "second").exit_code, 0);
  EXPECT_NE(job_command("logs", "second").out.find("yes second\n"), std::string::npos)
      << job_command("logs", "second").out;
}

TEST_F(Jobs, AStopEndsItAndASecondOneIsFine) {
  ASSERT_EQ(submit(training("long", "'--until-stopped'")).exit_code, 0);
  await_run("long");
  const Outcome stopped = job_command("stop", "long", {"--wait", "--json"});
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_EQ(stopped.json().at("secondary_status"), "Stopped");
  EXPECT_EQ(job_command("stop", "long", {"--json"}).json().at("seq"), stopped.json().at("seq"));
  EXPECT_EQ(describe("long").at("transitions")[3].at("cause"), "user");
  EXPECT_EQ(job_command("wait", "long").exit_code, 1);
}

// Whoever waits has seen the job, and is stopped while all of this happens.
TEST_F(Jobs, WhoWaitsForAJobThatIsRemovedIsTold) {
  for (const bool anew : {false, true}) {
    const std::string spec = "name = 'w1'\nprogram = ['sleep', '300']\nhook = false\n";
    ASSERT_EQ(submit(spec).exit_code, 0);
    await_status("w1", "Training");
    Background waits(cli_command({"job", "wait", "w1", "--jobs", jobs().string()}), folder_);
    Background follows(cli_command({"job", "logs", "-f", "w1", "--jobs", jobs().string()}), folder_);
    for (const Background* one : {&waits, &follows}) {
      one->await_nap();
      ::kill(one->id(), SIGSTOP);
    }
    EXPECT_EQ(job_command("stop", "w1", {"--wait"}).exit_code, 0);
    EXPECT_EQ(job_command("rm", "w1").exit_code, 0);
    if (anew) {
      ASSERT_EQ(submit(spec).exit_code, 0);
    }
    for (const Background* one : {&waits, &follows}) ::kill(one->id(), SIGCONT);
    for (Background* one : {&waits, &follows}) {
      const Outcome outcome = one->wait();
      EXPECT_EQ(outcome.exit_code, 1);
      EXPECT_NE(outcome.err.find("job w1 was removed meanwhile"), std::string::npos) << outcome.err;
    }
  }
}

// No file of who asks may grow, as on a full disk; its pipes may.
TEST_F(Jobs, AStopThatCannotBeWrittenReachesItsAgent) {
  ASSERT_EQ(submit("name = 'full'\nprogram = ['sleep', '300']\nhook = false\n").exit_code, 0);
  await_status("full", "Training");
  const Outcome asked = shell("(trap '' XFSZ; ulimit -f 0; $TW job stop full --jobs " + jobs().string() +
                              "; echo exit code $?) 2>&1 | cat");
  EXPECT_NE(asked.out.find("exit code 0"), std::string::npos) << asked.out;
  EXPECT_NE(asked.out.find("this is written when there is room"), std::string::npos) << asked.out;
  EXPECT_EQ(job_command("wait", "full").exit_code, 1);
  EXPECT_EQ(describe("full").at("secondary_status"), "Stopped") << describe("full").dump(1);
}

TEST_F(Jobs, ADamagedJobIsStillReadAndRemoved) {
  ASSERT_EQ(submit("name = 'torn'\nprogram = ['echo', 'printed']\nhook = false\n", {"--wait"}).exit_code, 0);
  std::ofstream(jobs() / "torn" / "job.json") << "{";
  const Outcome stopped = job_command("stop", "torn");
  EXPECT_EQ(stopped.exit_code, 4) << stopped.err;
  EXPECT_NE(stopped.err.find("`trainwarden job rm torn` removes it"), std::string::npos) << stopped.err;
  const Outcome logs = job_command("logs", "torn");
  EXPECT_EQ(logs.exit_code, 0) << logs.err;
  EXPECT_NE(logs.out.find("printed\n"), std::string::npos) << logs.out;
  EXPECT_NE(logs.err.find("job torn is damaged"), std::string::npos) << logs.err;
  EXPECT_EQ(job_command("rm", "torn", {"--run"}).exit_code, 4);
  // What a link of such a folder leads to is nobody's of the job.
  std::filesystem::create_directories(folder_ / "elsewhere/of-others");
  std::filesystem::create_directory_symlink(folder_ / "elsewhere", jobs() / "torn" / "link");
  EXPECT_EQ(job_command("rm", "torn").exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(jobs() / "torn"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "elsewhere/of-others"));
}

TEST_F(Jobs, ADamagedJobThatRunsIsNotRemoved) {
  ASSERT_EQ(submit("name = 'torn'\nprogram = ['sh', '-c', 'echo begun; exec sleep 300']\nhook = false\n").exit_code, 0);
  await_line("torn");  // an agent that reads a damaged job.json before the program has begun gives up
  const std::string order = read_file(jobs() / "torn" / "job.json");
  std::ofstream(jobs() / "torn" / "job.json") << "{";
  const Outcome refused = job_command("rm", "torn");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("not as long as its agent lives"), std::string::npos) << refused.err;
  std::ofstream(jobs() / "torn" / "job.json") << order;
}

TEST_F(Jobs, ARuleStopsIt) {
  const std::string spec = training("ruinous", "'--until-stopped', '--vanish-at', '5'",
                                    "rules = ['VanishingGradient']\nactions = 'actions.toml'\n");
  EXPECT_EQ(submit(spec).exit_code, 2) << "actions.toml is not there";
  std::ofstream(folder_ / "actions.toml") << "[[on]]\nrule = 'VanishingGradient'\ndo = 'stop'\n";
  ASSERT_EQ(submit(spec).exit_code, 0);
  EXPECT_EQ(job_command("wait", "ruinous").exit_code, 1);
  const nlohmann::json described = describe("ruinous");
  EXPECT_EQ(described.at("secondary_status"), "Stopped") << described.dump(1) << job_command("logs", "ruinous").out;
  EXPECT_EQ(described.at("exit").at("stopped_by_rule"), true);
}

TEST_F(Jobs, AGoalStopsIt) {
  const std::string spec =
      training("there", "'--until-stopped'",
               "rules = ['TargetReached:scores=accuracy,target=0.9,count=1000']\nactions = 'actions.toml'\n");
  std::ofstream(folder_ / "actions.toml") << "[[on]]\nrule = 'TargetReached'\ndo = 'stop'\n";
  ASSERT_EQ(submit(spec).exit_code, 0);
  EXPECT_EQ(job_command("wait", "there").exit_code, 1);
  const nlohmann::json described = describe("there");
  EXPECT_EQ(described.at("secondary_status"), "Stopped") << described.dump(1) << job_command("logs", "there").out;
  EXPECT_EQ(described.at("rules").at(0).at("status"), "NoIssuesFound") << described.dump(1);
  EXPECT_EQ(described.at("rules").at(0).at("alerts"), 1);
}

// kill -9 of the agent: the training goes with it, no orphan is left, and whoever looks says what has happened.
TEST_F(Jobs, AnAgentThatIsKilledTakesTheTrainingAlong) {
  ASSERT_EQ(submit("name = 'orphan'\nprogram = ['sh', '-c', 'echo $PPID $$; exec sleep 300']\n").exit_code, 0);
  await_status("orphan", "Training");
  const std::string printed = await_line("orphan");
  const pid_t launcher = std::stoi(printed);
  const pid_t program = std::stoi(printed.substr(printed.find(' ')));
  const pid_t agent = stat_of(launcher).parent;
  ASSERT_GT(agent, 1);
  const nlohmann::json described = describe("orphan");
  EXPECT_EQ(described.at("agent").at("pid"), agent);
  ASSERT_EQ(::kill(agent, SIGKILL), 0);
  EXPECT_TRUE(ends_soon(program)) << "the training is an orphan";
  EXPECT_TRUE(ends_soon(launcher));
  await_status("orphan", "Failed");
  const nlohmann::json lost = describe("orphan");
  EXPECT_EQ(lost.at("cause"), "agent lost");
  EXPECT_TRUE(lost.at("agent").is_null());
}

// Its session ends with the client, and the system sends SIGHUP to what is in the foreground.
TEST_F(Jobs, ATerminalThatIsClosedAtOnceLeavesItAlone) {
  const std::string file = (folder_ / "job.toml").string();
  const std::filesystem::path closed = folder_ / "closed";
  std::ofstream(file) << "name = 'alone'\nprogram = ['sh', '-c', 'until [ -e " << closed.string()
                      << " ]; do sleep 0.02; done']\nhook = false\n";
  std::vector<std::string> command = cli_command({"submit", file, "--jobs", jobs().string()});
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int terminal = -1;
  const pid_t client = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  ASSERT_GE(client, 0);
  if (client == 0) {
    ::execv(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(client, &status, 0), client);
  ::close(terminal);
  std::ofstream(closed).flush();
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(job_command("wait", "alone").out, "alone: Completed (the program has ended with exit code 0)\n");
}

// A training that ends by itself leaves a finished run; the next attempt goes on with it all the same.
TEST_F(Jobs, AFailedJobGoesOnInTheSameRun) {
  const std::string trains_and_fails =
      "import os, subprocess, sys\n"
      "attempt = int(os.environ['TRAINWARDEN_JOB_ATTEMPT'])\n"
      "first = ['--first-step', str(10 * (attempt - 1))]\n"
      "subprocess.run([sys.argv[1], '--steps', '10', *first], check=True)\n"
      "sys.exit(0 if attempt == 2 else 5)\n";
  std::ofstream(folder_ / "train.py") << trains_and_fails;
  ASSERT_EQ(
      submit("name = 'twice'\nentry_point = 'train.py'\narguments = ['" + tiny_training().string() + "']\n", {"--wait"})
          .exit_code,
      1);
  EXPECT_EQ(cli({"job", "resume", "nobody", "--jobs", jobs().string()}).exit_code, 1);
  const Outcome resumed = job_command("resume", "twice", {"--wait"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.out << resumed.err;
  EXPECT_EQ(describe("twice").at("attempt"), 2);
  const nlohmann::json run = cli({"describe", "twice", "--json"}).json();
  EXPECT_EQ(run.at("TrainingJobStatus"), "Completed") << run.dump(1);
  EXPECT_EQ(run.at("Steps"), 20) << "nothing hidden, nothing doubled";
  EXPECT_EQ(run.at("Attempts"), 2);
  const Outcome again = job_command("resume", "twice");
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.err.find("`trainwarden job repeat"), std::string::npos) << again.err;
}

TEST_F(Jobs, AnAgentThatIsKilledIsReplacedWhenTheJobMayGoOn) {
  ASSERT_EQ(
      submit("name = 'tough'\nprogram = ['sh', '-c', 'echo $PPID; test $TRAINWARDEN_JOB_ATTEMPT = 2 || sleep 300']\n"
             "hook = false\nretries = 1\n")
          .exit_code,
      0);
  await_status("tough", "Training");
  const pid_t agent = stat_of(std::stoi(await_line("tough"))).parent;
  ASSERT_GT(agent, 1);
  ASSERT_EQ(::kill(agent, SIGKILL), 0);
  EXPECT_EQ(job_command("wait", "tough").exit_code, 0) << describe("tough").dump(1);
  const nlohmann::json described = describe("tough");
  std::vector<std::string> way;
  for (const auto& one : described.at("transitions")) way.push_back(one.at("secondary_status"));
  EXPECT_EQ(way, (std::vector<std::string>{"Pending", "Starting", "Training", "Interrupted", "Restarting", "Starting",
                                           "Training", "Completed"}));
}

TEST_F(Jobs, JobsWaitForOneAnotherAndSayWhy) {
  const auto queue = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"job", "queue", "--jobs", jobs().string(), "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return cli(words);
  };
  EXPECT_EQ(queue({"--cpus", "1"}).json().at("capacity").at("cpus"), 1);
  EXPECT_EQ(queue({"--cpus", "many"}).exit_code, 2);
  EXPECT_EQ(queue({"--control-group", "../elsewhere"}).exit_code, 2);
  EXPECT_NE(queue({"--control-group", "trainwarden-nobody-made-it"}).exit_code, 0);
  EXPECT_TRUE(queue({"--control-group", "none"}).json().at("control_group").is_null());
  const std::string one_cpu = "program = ['sleep', '300']\nhook = false\ncpus = 1\n";
  ASSERT_EQ(submit("name = 'first'\n" + one_cpu).exit_code, 0);
  await_status("first", "Training");
  ASSERT_EQ(submit("name = 'second'\n" + one_cpu).exit_code, 0);
  await([&] { return describe("second").at("message") == "waits for 1 processor: 0 of 1 free"; });
  EXPECT_EQ(queue({}).json().at("jobs").size(), 2u);
  // Nobody keeps the queue, and whoever looks sees to it that somebody does.
  ASSERT_EQ(::kill(keeper(), SIGKILL), 0);
  ASSERT_EQ(job_command("stop", "first", {"--wait"}).exit_code, 0);
  await_status("second", "Training");
  ASSERT_EQ(job_command("stop", "second", {"--wait"}).exit_code, 0);
  await([&] { return queue({}).json().at("jobs").empty(); });
}

TEST_F(Jobs, MistakesMakeNothing) {
  const Outcome wrong = submit("entry_pont = 'train.py'\n[resources]\nnodes = 2\n");
  EXPECT_EQ(wrong.exit_code, 2);
  for (const char* part : {"did you mean \"entry_point\"?",
                           "`submit` cannot do this yet on this machine: nodes (several need backend = "}) {
    EXPECT_NE(wrong.err.find(part), std::string::npos) << wrong.err;
  }
  EXPECT_FALSE(std::filesystem::exists(jobs()));
  ASSERT_EQ(submit("name = 'one'\nprogram = 'true'\nhook = false\n", {"--wait"}).exit_code, 0);
  const Outcome again = submit("name = 'one'\nprogram = 'true'\nhook = false\n");
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.err.find("there is a job \"one\" already"), std::string::npos) << again.err;
  EXPECT_EQ(submit("program = 'true'\n", {"--name", "../x"}).exit_code, 2);
  const Outcome missing = job_command("describe", "on");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("did you mean \"one\"?"), std::string::npos) << missing.err;
  EXPECT_EQ(cli({"job", "ls", "--jobs", (folder_ / "none").string()}).out.find("no jobs in "), 0u);
}

TEST_F(Jobs, ASubmissionThatFailsLeavesNoFolder) {
  std::filesystem::create_directories(folder_ / "src");
  std::ofstream(folder_ / "src/train.py") << "print('trained')\n";
  std::ofstream(folder_ / "src/data.bin").flush();
  std::filesystem::resize_file(folder_ / "src/data.bin", std::uintmax_t{1} << 30);  // holes take no room
  const Outcome refused = submit("name = 'big'\nentry_point = 'train.py'\nsource_dir = 'src'\nhook = false\n");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("source_dir: the sources are more than"), std::string::npos) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(jobs() / "big"));
  // The folder of the job that has the name already is left alone.
  std::filesystem::remove(folder_ / "src/data.bin");
  const std::string fine = "name = 'big'\nentry_point = 'train.py'\nsource_dir = 'src'\nhook = false\n";
  ASSERT_EQ(submit(fine, {"--wait"}).exit_code, 0);
  const auto files = [this] {
    const std::filesystem::directory_iterator all(jobs() / "big");
    return std::distance(begin(all), end(all));
  };
  const auto before = files();
  EXPECT_EQ(submit(fine).exit_code, 1);
  EXPECT_EQ(files(), before);
}

// There is no key to seal it with.
TEST_F(Jobs, ASubmissionThatFailsLeavesNoPlaceInTheQueue) {
  std::ofstream(folder_ / "job.toml") << "name = 'ghost'\nprogram = 'true'\nhook = false\n";
  const std::string at = " --jobs " + jobs().string();
  const Outcome refused = shell("XDG_STATE_HOME=/dev/null/nowhere $TW submit " + (folder_ / "job.toml").string() + at);
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_TRUE(cli({"job", "queue", "--jobs", jobs().string(), "--json"}).json().at("jobs").empty());
  ASSERT_EQ(submit("name = 'taken'\nprogram = 'true'\nhook = false\n", {"--wait"}).exit_code, 0);
  const auto places = [this] {
    return cli({"job", "queue", "--jobs", jobs().string(), "--json"}).json().at("jobs").size();
  };
  await([&] { return places() == 0; });
  EXPECT_EQ(submit("name = 'taken'\nprogram = 'true'\nhook = false\n").exit_code, 1);
  EXPECT_EQ(places(), 0U);
}

TEST_F(Jobs, TheListIsFilteredSortedAndHasColumns) {
  const auto make = [this](const std::string& name, const std::string& program, const std::string& lr) {
    submit("name = '" + name + "'\nprogram = '" + program + "'\nhook = false\n[hyperparameters]\nlr = " + lr + "\n",
           {"--wait"});
  };
  make("good", "true", "0.1");
  make("bad", "false", "0.01");
  const auto list = [this](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"job", "ls", "--jobs", jobs().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli(arguments);
  };
  const nlohmann::json all = list({"--json", "--sort", "lr"}).json().at("jobs");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("name"), "bad");
  EXPECT_EQ(all[0].at("hyperparameters").at("lr"), 0.01);
  const Outcome failed = list({"--status", "Failed", "--columns", "lr"});
  EXPECT_NE(failed.out.find("0.01"), std::string::npos) << failed.out;
  EXPECT_EQ(failed.out.find("good"), std::string::npos) << failed.out;
  const Outcome unknown = list({"--columns", "lrr"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("did you mean \"lr\"?"), std::string::npos) << unknown.err;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "catalogue" / "catalogue.db"));
  std::ofstream(folder_ / "catalogue" / "catalogue.db", std::ios::trunc) << std::string(3000, 'x');
  const Outcome damaged = list({"--json"});
  EXPECT_NE(damaged.err.find("made anew"), std::string::npos) << damaged.err;
  EXPECT_EQ(damaged.json().at("jobs").size(), 2u);
  EXPECT_EQ(cli({"catalogue", "rebuild", "--jobs", jobs().string(), "--json"}).json().at("jobs"), 2);
}

TEST_F(Jobs, TenAtOnceEndOnce) {
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(submit("name = 'j" + std::to_string(i) + "'\nprogram = ['sleep', '0.2']\nhook = false\n").exit_code, 0);
  }
  for (int i = 0; i < 10; ++i) {
    const std::string name = "j" + std::to_string(i);
    EXPECT_EQ(job_command("wait", name).exit_code, 0) << describe(name).dump(1);
    EXPECT_EQ(describe(name).at("transitions").size(), 4u);
  }
}

}  // namespace
}  // namespace trainwarden::testing_cli
