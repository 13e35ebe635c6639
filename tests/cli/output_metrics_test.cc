// Metrics of a program's output as series of its run: `run --log`, jobs, `metrics show`, and what else shows them.
#include <csignal>
#include <fstream>

#include <fmt/format.h>
#include <signal.h>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

constexpr const char* kStepDefinition = "[[metric]]\nname = 'train:loss'\nregex = 'step (?<step>\\d+) loss (\\S+)'\n";

class OutputMetricsCli : public CliTest {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  std::string log() const { return (folder_ / "out.log").string(); }

  Outcome run(const std::string& name, const std::string& script, std::vector<std::string> options = {}) const {
    std::vector<std::string> words = {"run", "--name", name, "--log", log()};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "/bin/sh", "-c", script});
    return cli(words);
  }
  // The values of a metric, one by one.
  std::vector<nlohmann::json> rows(const std::string& run) const {
    const Outcome outcome = cli({"metrics", "show", run, "--period", "0", "--full", "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.json().at("rows").get<std::vector<nlohmann::json>>();
  }
  void await_rows(const std::string& run, std::size_t count) const {
    await([&] {
      const Outcome outcome = cli({"metrics", "show", run, "--period", "0", "--json"});
      return outcome.exit_code == 0 && outcome.json().at("rows").size() >= count;
    });
  }
};

// It prints one loss after the other until it is ended.
constexpr const char* kEndless = "i=0; while :; do i=$((i+1)); echo \"{'loss': $i}\"; sleep 0.02; done";

TEST_F(OutputMetricsCli, AProgramWithoutAHookHasARunWithWhatItPrints) {
  const Outcome outcome = run("keras",
                              "echo 'Epoch 1/1'; printf '1/2 [=>.] - loss: 0.5 - acc: nan\\r'; "
                              "echo '2/2 [==] - loss: 0.25 - acc: 1'; echo oops >&2; exit 3");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.out.find("oops\n"), std::string::npos) << "its output is printed here too";
  EXPECT_EQ(outcome.out, read_file(log()));
  EXPECT_NE(outcome.err.find("in the output: metrics: 2, values: 4"), std::string::npos) << outcome.err;
  const auto all = rows("keras");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].at("metric_name"), "loss");
  EXPECT_EQ(all[1].at("value"), 0.25);
  EXPECT_EQ(all[1].at("step"), 2);
  EXPECT_EQ(all[2].at("value"), "NaN");
  EXPECT_EQ(all[0].at("timestamp"), 0.0);
  const nlohmann::json description = cli({"describe", "keras", "--json"}).json();
  EXPECT_EQ(description.at("FailureReason"), "exit code 3");
  ASSERT_EQ(description.at("FinalMetricDataList").size(), 2u);
  EXPECT_EQ(description["FinalMetricDataList"][0].at("MetricName"), "loss");
  EXPECT_EQ(description["FinalMetricDataList"][0].at("Value"), 0.25);
  EXPECT_EQ(description["FinalMetricDataList"][0].at("Step"), 2);
  EXPECT_NE(cli({"show", "keras"}).out.find(" 0.25     2\n"), std::string::npos) << cli({"show", "keras"}).out;
}

TEST_F(OutputMetricsCli, TheFrameIsThatOfTrainingJobAnalytics) {
  run("frame", "echo step 1 loss 4; echo step 2 loss 2; echo step 2 val_acc x",
      {"--metrics",
       file("m.toml", std::string(kStepDefinition) + "[[metric]]\nname = 'acc'\nregex = 'val_acc (\\S+)'\n")});
  const Outcome csv = cli({"metrics", "show", "frame", "--period", "2000000", "--csv"});
  EXPECT_EQ(csv.out, "timestamp,metric_name,value\n0,train:loss,3\n");
  EXPECT_NE(csv.err.find("warning: metric acc was not found in 3 lines"), std::string::npos) << csv.err;
  const nlohmann::json document = cli({"metrics", "show", "frame", "--json", "--relative", "none"}).json();
  EXPECT_EQ(static_cast<long long>(document.at("rows")[0].at("timestamp").get<double>()) % 60, 0);
  EXPECT_EQ(document.at("output").at("metrics")[1].at("parse_errors"), 1);
  EXPECT_EQ(document.at("output").at("metrics")[1].at("first_unreadable"), "x");
  EXPECT_NE(cli({"show", "frame"}).out.find("acc: matches that are no number: 1, the first \"x\"\n"),
            std::string::npos);
}

TEST_F(OutputMetricsCli, ValuesAreThereWhileTheProgramRuns) {
  const Background training(
      cli_command({"run", "--tied", "--name", "live", "--log", log(), "--", "/bin/sh", "-c", kEndless}), folder_);
  await_rows("live", 3);
  EXPECT_EQ(cli({"show", "live", "--json"}).json().at("state"), "running");
}

TEST_F(OutputMetricsCli, WhatWasThereOutlivesAKillOfRun) {
  Background training(
      cli_command({"run", "--tied", "--name", "killed", "--log", log(), "--", "/bin/sh", "-c", kEndless}), folder_);
  await_rows("killed", 5);
  ASSERT_EQ(::kill(training.id(), SIGKILL), 0);
  training.wait();
  const auto before = rows("killed");
  ASSERT_GE(before.size(), 5u);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].at("value"), i + 1) << "nothing is invented";
  EXPECT_EQ(cli({"show", "killed", "--json"}).json().at("state"), "died");
  EXPECT_EQ(run("killed", "echo \"{'loss': -1}\"").exit_code, 0) << "another attempt goes on";
  const auto after = rows("killed");
  ASSERT_EQ(after.size(), before.size() + 1) << "the lines of the first attempt are not read again";
  EXPECT_EQ(after.back().at("value"), -1);
}

TEST_F(OutputMetricsCli, AHookThatComesLaterJoinsTheRun) {
  // What it prints has made the run when the training begins.
  const Outcome outcome = run("late", fmt::format("echo \"{{'loss': 3.0}}\"; until [ -e {}/run.json ]; do sleep 0.02; "
                                                  "done; {} --steps 5",
                                                  run_path("late").string(), TW_TINY_TRAINING));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json shown = cli({"show", "late", "--json"}).json();
  EXPECT_EQ(shown.at("workers").size(), 1u);
  EXPECT_EQ(shown.at("state"), "completed");
  EXPECT_EQ(shown.at("last_complete_step"), 4);
  EXPECT_EQ(rows("late").size(), 1u);
  EXPECT_EQ(read_file(run_path("late") / "run.json").find("awaits_worker"), std::string::npos);
}

TEST_F(OutputMetricsCli, AJobHasItsMetrics) {
  const std::string jobs = (folder_ / "jobs").string();
  const std::string spec = file("job.toml", std::string("name = 'counted'\nprogram = ['/bin/sh', '-c', "
                                                        "'echo step 7 loss 0.5; echo loss 9']\n") +
                                                kStepDefinition);
  ASSERT_EQ(cli({"submit", spec, "--jobs", jobs, "--wait"}).exit_code, 0);
  const auto all = rows("counted");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].at("metric_name"), "train:loss");
  EXPECT_EQ(all[0].at("value"), 0.5);
  EXPECT_EQ(all[0].at("step"), 7);
}

TEST_F(OutputMetricsCli, MistakesAreTold) {
  const Outcome alone = cli({"run", "--metrics", file("m.toml", kStepDefinition), "--", "true"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_NE(alone.err.find("--metrics requires --log"), std::string::npos) << alone.err;
  const Outcome folder = cli({"run", "--log", folder_.string(), "--", "true"});
  EXPECT_NE(folder.exit_code, 0);
  EXPECT_NE(folder.err.find(folder_.string()), std::string::npos) << folder.err;
  const Outcome definitions =
      run("bad", "echo never", {"--metrics", file("bad.toml", "[[metric]]\nname = 'a'\nregex = '('\n")});
  EXPECT_EQ(definitions.exit_code, 2);
  EXPECT_NE(definitions.err.find("does not compile"), std::string::npos) << definitions.err;
  EXPECT_EQ(definitions.out, "") << "the program was not started";
  train("plain");
  const Outcome none = cli({"metrics", "show", "plain"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_NE(none.err.find("no metrics from its program's output"), std::string::npos) << none.err;
}

TEST_F(OutputMetricsCli, NamesOfMetricsDoNotDriveTheTerminal) {
  run("evil", "printf \"{'loss': 1.0, 'e\\007vil\\342\\200\\256': 2.0}\\n\"");
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"metrics", "show", "evil"},
                                             {"metrics", "show", "evil", "--csv"},
                                             {"metrics", "show", "evil", "--json"},
                                             {"show", "evil"},
                                             {"describe", "evil"}}) {
    const Outcome outcome = cli(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("vil"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find('\x07'), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("\xe2\x80\xae"), std::string::npos) << outcome.out;
  }
}

}  // namespace
}  // namespace trainwarden::testing_cli
