// Standing subscriptions and events of jobs, as a user types them.
#include <csignal>
#include <fstream>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <signal.h>

#include "cli_harness.h"
#include "core/base/await_testing.h"

namespace trainwarden::testing_cli {
namespace {

namespace fs = std::filesystem;

class JobEvents : public CliTest {
 protected:
  // Nothing goes on when the test has ended.
  void TearDown() override {
    std::error_code none;
    fs::remove_all(jobs() / ".subscriptions", none);
    if (const pid_t id = deliverer(); id > 0) ::kill(id, SIGTERM);
    await([&] { return deliverer() <= 0; });
    CliTest::TearDown();
  }

  fs::path jobs() const { return folder_ / "jobs"; }
  fs::path delivered_file() const { return folder_ / "delivered.jsonl"; }

  Outcome events(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "events");
    arguments.insert(arguments.end(), {"--jobs", jobs().string()});
    return cli(arguments);
  }

  void subscribe(const std::string& pattern, const std::string& action = "") const {
    const std::string file = "file:path=" + delivered_file().string();
    const Outcome added =
        events({"rule", "add", "ops", "--pattern", pattern, "--action", action.empty() ? file : action});
    ASSERT_EQ(added.exit_code, 0) << added.err;
  }

  Outcome submit(const std::string& spec) const {
    const std::string file = (folder_ / "job.toml").string();
    std::ofstream(file) << spec;
    return cli({"submit", file, "--jobs", jobs().string()});
  }
  Outcome wait_for(const std::string& job) const { return cli({"job", "wait", job, "--jobs", jobs().string()}); }

  void await(const std::function<bool()>& is_so) const {
    ASSERT_TRUE(trainwarden::await(is_so)) << read_file(jobs() / ".events" / "deliverer.log");
  }

  // Whoever delivers now; 0: nobody.
  pid_t deliverer() const {
    std::ifstream lease(jobs() / ".events" / "deliverer.lease");
    if (!lease) return 0;
    const auto promise = nlohmann::json::parse(lease, nullptr, false);
    const pid_t id = promise.is_object() ? promise.value("pid", 0) : 0;
    std::ifstream stat(fmt::format("/proc/{}/stat", id));
    std::string text;
    std::getline(stat, text);
    const bool lives = id > 0 && text.rfind(") Z") == std::string::npos && !text.empty();
    return lives ? id : 0;
  }

  // What the file got: job and status of each, each id once.
  std::set<std::string> delivered() const {
    std::set<std::string> all;
    std::ifstream file(delivered_file());
    for (std::string line; std::getline(file, line);) {
      const auto event = nlohmann::json::parse(line, nullptr, false);
      if (!event.is_object()) continue;  // being written
      all.insert(fmt::format("{} {} {}", event["data"]["TrainingJobName"].get<std::string>(),
                             event["data"]["SecondaryStatus"].get<std::string>(), event["id"].get<std::string>()));
    }
    return all;
  }
};

constexpr const char* kOfJobs = R"({"data": {"change": {"kind": ["job"]}}})";
constexpr const char* kQuickJob = "program = ['true']\nname = '{}'\n";

TEST_F(JobEvents, EachTransitionOfAJobIsAnEventAlsoWhereNobodySubscribes) {
  ASSERT_EQ(submit("program = ['sh', '-c', 'exit 3']\nname = 'first'\n").exit_code, 0);
  EXPECT_EQ(wait_for("first").exit_code, 1);
  EXPECT_FALSE(fs::exists(jobs() / ".events")) << "no process, no files";
  const nlohmann::json listed = events({"--job", "first", "--json"}).json();
  EXPECT_EQ(listed.at("job"), "first");
  ASSERT_EQ(listed.at("events").size(), 4u);
  EXPECT_EQ(listed["events"][0].at("headline"), "Job first was submitted");
  EXPECT_EQ(listed["events"][3].at("headline"),
            "Job first failed: AlgorithmError: the program has ended with exit code 3");
  const Outcome raw = events({"--job", "first", "--raw", "--format", "eventbridge", "--pattern",
                              R"({"detail": {"TrainingJobStatus": ["Failed"]}})"});
  const nlohmann::json envelope = nlohmann::json::parse(raw.out);
  EXPECT_EQ(envelope.at("detail-type"), "SageMaker Training Job State Change");
  EXPECT_EQ(envelope.at("detail").at("FailureReason"), "AlgorithmError: the program has ended with exit code 3");
  EXPECT_EQ(events({"--job", "first", "--follow"}).out.find("Job first was submitted") == std::string::npos, false);
  EXPECT_EQ(events({"--all-jobs"}).exit_code, 1);
  EXPECT_NE(events({"--all-jobs"}).err.find("events rule add"), std::string::npos);
}

TEST_F(JobEvents, AStandingSubscriptionHearsOfEveryJob) {
  subscribe(kOfJobs);
  for (const std::string name : {"one", "two"}) ASSERT_EQ(submit(fmt::format(kQuickJob, name)).exit_code, 0);
  for (const std::string name : {"one", "two"}) EXPECT_EQ(wait_for(name).exit_code, 0);
  await([&] { return delivered().size() == 8; });
  await([&] { return deliverer() == 0; });  // it ends when nothing is left
  const nlohmann::json rules = events({"rule", "ls", "--json"}).json().at("subscriptions");
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].at("delivered"), 8);
  EXPECT_EQ(rules[0].at("waiting"), 0);
  const nlohmann::json all = events({"--all-jobs", "--json"}).json();
  EXPECT_EQ(all.at("jobs"), jobs().string());
  EXPECT_GE(all.at("events").size(), 8u);
  const nlohmann::json of_one = events({"--job", "one", "--json"}).json().at("events");
  EXPECT_EQ(of_one.at(3).at("deliveries").at(0).at("state"), "delivered");
  EXPECT_EQ(events({"rule", "rm", "ops"}).exit_code, 0);
  EXPECT_EQ(events({"rule", "show", "ops"}).exit_code, 1);
}

TEST_F(JobEvents, AnAlertOfARunStopsItsJob) {
  subscribe("", "stop:rule=VanishingGradient");
  const std::string spec = fmt::format(
      "name = 'bad'\nprogram = ['{}', '--vanish-at', '5', '--until-stopped']\nrules = ['VanishingGradient']\n",
      tiny_training().string());
  ASSERT_EQ(submit(spec).exit_code, 0);
  EXPECT_EQ(wait_for("bad").exit_code, 1);
  const nlohmann::json described = cli({"job", "describe", "bad", "--jobs", jobs().string(), "--json"}).json();
  EXPECT_EQ(described.at("secondary_status"), "Stopped") << cli({"job", "logs", "bad", "--jobs", jobs().string()}).out;
  EXPECT_NE(described.dump().find("ops asks for it: VanishingGradient fired"), std::string::npos) << described.dump(1);
}

TEST_F(JobEvents, KilledWhoeverDeliversNothingIsLost) {
  subscribe(kOfJobs);
  constexpr int kJobs = 6;
  for (int i = 0; i < kJobs; ++i) ASSERT_EQ(submit(fmt::format(kQuickJob, fmt::format("job-{}", i))).exit_code, 0);
  for (int i = 0; i < kJobs; ++i) {
    if (const pid_t id = deliverer(); id > 0) ::kill(id, SIGKILL);
    EXPECT_EQ(wait_for(fmt::format("job-{}", i)).exit_code, 0);
  }
  if (const pid_t id = deliverer(); id > 0) ::kill(id, SIGKILL);
  await([&] {
    cli({"job", "ls", "--jobs", jobs().string()});  // who looks brings it back
    return delivered().size() == kJobs * 4;
  });
}

TEST_F(JobEvents, ADeadLetterIsTriedAnew) {
  const fs::path flag = folder_ / "flag";
  subscribe(R"({"data": {"TrainingJobStatus": ["Completed"], "change": {"kind": ["job"]}}})",
            fmt::format("exec:command=test -e {}", flag.string()));
  ASSERT_EQ(submit(fmt::format(kQuickJob, "first")).exit_code, 0);
  EXPECT_EQ(wait_for("first").exit_code, 0);
  const auto count = [&](const char* of) { return events({"rule", "ls", "--json"}).json()["subscriptions"][0].at(of); };
  await([&] { return count("dead") == 1; });
  EXPECT_EQ(events({"deliveries", "--all-jobs", "--dead", "--json"}).json().at("deliveries").size(), 1u);
  std::ofstream(flag.string()) << "now";
  const Outcome redriven = events({"redrive", "--all-jobs"});
  EXPECT_EQ(redriven.exit_code, 0) << redriven.err;
  await([&] { return count("delivered") == 1; });  // before that it waits, and is not dead either
  EXPECT_EQ(count("dead"), 0);
}

TEST_F(JobEvents, WhatIsWrongIsToldBeforeAnythingIsWritten) {
  const auto add = [&](const std::string& action, const std::string& pattern = "") {
    return events({"rule", "add", "ops", "--action", action, "--pattern", pattern});
  };
  EXPECT_NE(add("webhok:url=https://x.example").err.find("did you mean \"webhook\""), std::string::npos);
  EXPECT_NE(add("webhook:url=https://x.example,secret=env:KEY").err.find("expected file:PATH"), std::string::npos);
  EXPECT_EQ(add("stop", R"({"type": "no list"})").exit_code, 2);
  EXPECT_NE(add("stop", "absent.json").err.find("there is no such file"), std::string::npos);
  EXPECT_EQ(events({"rule", "add", "a b", "--action", "stop"}).exit_code, 2);
  EXPECT_FALSE(fs::exists(jobs() / ".subscriptions"));
  subscribe(kOfJobs);
  EXPECT_EQ(add("stop").exit_code, 1) << "the name is taken";
  const Outcome typo = events({"rule", "add", "typo", "--action", "stop:rule=ExplodingTenso", "--pattern", ""});
  EXPECT_EQ(typo.exit_code, 0) << "a job may have a rule of its own";
  EXPECT_NE(typo.err.find("did you mean \"ExplodingTensor\""), std::string::npos) << typo.err;
  EXPECT_NE(events({"rule", "rm", "opps"}).err.find("did you mean \"ops\""), std::string::npos);
  EXPECT_EQ(events({"first", "--all-jobs"}).exit_code, 2) << "one of both";
}

TEST_F(JobEvents, ATestAlertArrives) {
  subscribe(kOfJobs);
  const Outcome tested = events({"rule", "test", "ops"});
  EXPECT_EQ(tested.exit_code, 0) << tested.err;
  EXPECT_NE(read_file(delivered_file()).find("TEST: this is how an alert of"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::testing_cli
