// `trainwarden submit --format sagemaker`: requests of SageMaker's API as jobs.
#include <fstream>

#include "job_harness.h"

namespace trainwarden::testing_cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Requests : public Jobs {
 protected:
  // A request for a job that prints, and does what `then` says, with these fields besides.
  Outcome request(const json& fields, std::vector<std::string> more = {}, const std::string& then = "") const {
    const fs::path script = folder_ / "train.sh";
    std::ofstream(script) << "#!/bin/sh\necho \"$0 $@ $COLOUR\"\n" << then;
    fs::permissions(script, fs::perms::owner_all);
    json all = {{"TrainingJobName", "asked"},
                {"HyperParameters", {{"sagemaker_program", script.string()}, {"lr", "0.5"}}},
                {"Environment", {{"COLOUR", "red"}}}};
    all.update(fields);
    const std::string file = (folder_ / "request.json").string();
    std::ofstream(file) << all.dump();
    std::vector<std::string> arguments = {"submit", file, "--format", "sagemaker", "--jobs", jobs().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli(arguments);
  }
};

TEST_F(Requests, ARequestIsAJobAndIsShownAgain) {
  const Outcome done = request({{"DebugHookConfig", {{"S3OutputPath", (folder_ / "tensors").string()}}}}, {"--wait"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_NE(done.out.find("train.sh --lr 0.5 red\n"), std::string::npos) << done.out;
  const json shown = job_command("describe", "asked", {"--format", "sagemaker"}).json();
  EXPECT_EQ(shown.at("HyperParameters").at("lr"), "0.5");
  EXPECT_EQ(fs::read_symlink(folder_ / "tensors/asked/debug-output"), run_path("asked"));
  const Outcome again = request(json::object());
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.err.find("already"), std::string::npos) << again.err;
  EXPECT_EQ(describe("asked").at("status"), "Completed") << "the first is as it was";
  EXPECT_EQ(request(json::object(), {"--name", "other", "--wait"}).exit_code, 0) << "the name that is given counts";
}

TEST_F(Requests, WhatTheProfilersRulesFoundLiesWhereSagemakerPutsIt) {
  const fs::path results = folder_ / "results";
  const json rule = {
      {"RuleConfigurationName", "ProfilerReport-1700000000"},
      {"RuleParameters", {{"rule_to_invoke", "ProfilerReport"}, {"maxinitializationtime_THRESHOLD", "21"}}}};
  const Outcome done = request({{"OutputDataConfig", {{"S3OutputPath", results.string()}}},
                                {"DebugHookConfig", json::object()},
                                {"ProfilerRuleConfigurations", {rule}}},
                               {"--wait"}, "exec '" + tiny_training().string() + "' --steps 100\n");
  ASSERT_EQ(done.exit_code, 0) << done.out << done.err;
  const fs::path folder = results / "asked/rule-output/ProfilerReport-1700000000/profiler-output";
  const std::string report = read_file(folder / "profiler-report.json");
  EXPECT_EQ(json::parse(report).at("run").at("name"), "asked");
  EXPECT_EQ(report, read_file(run_path("asked") / "reports/profiler.json"));
  EXPECT_EQ(fs::exists(folder / "profiler-report.html"), fs::exists(run_path("asked") / "reports/profiler.html"));
  const json start = json::parse(read_file(folder / "profiler-reports/MaxInitializationTime.json"));
  EXPECT_EQ(start.at("RuleTriggered"), 0);
  EXPECT_EQ(start.at("Violations"), 0);
  EXPECT_GT(start.at("Datapoints"), 0);
  EXPECT_EQ(start.at("RuleParameters"), "threshold:21") << "as the request has it";
  EXPECT_EQ(start.at("Details").at("status"), "ok");
  for (const json& judged : json::parse(report).at("rules")) {
    const std::string file = judged.at("rule").get<std::string>() + ".json";
    EXPECT_EQ(fs::exists(folder / "profiler-reports" / file), judged.at("judgements") > 0) << file;
  }
  const std::string listed = job_command("files", "asked").out;
  EXPECT_NE(listed.find("rule-output/ProfilerReport-1700000000/profiler-output/profiler-report.json"),
            std::string::npos)
      << listed;
}

TEST_F(Requests, ADryRunShowsTheFilesAndMakesNothing) {
  const Outcome shown = request({{"StoppingCondition", {{"MaxRuntimeInSeconds", 60}}}}, {"--dry-run", "--json"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_EQ(json::parse(shown.json().at("files").at("job.json").get<std::string>()).at("max_run"), 60);
  EXPECT_NE(request(json::object(), {"--dry-run"}).out.find("job.json:\n"), std::string::npos);
  EXPECT_FALSE(fs::exists(jobs()));
  EXPECT_EQ(submit("program = ['true']\n", {"--dry-run"}).exit_code, 2);
}

TEST_F(Requests, AMistakeLeavesNothing) {
  const fs::path tensors = folder_ / "tensors";
  const json captured = {{"DebugHookConfig", {{"S3OutputPath", tensors.string()}}}};
  const std::pair<json, const char*> wrong[] = {
      {{{"StopingCondition", json::object()}}, "did you mean \"StoppingCondition\""},
      {{{"TrainingJobName", "../asked"}}, "TrainingJobName: expected letters"},
      {{{"StoppingCondition", {{"MaxRuntimeInSeconds", 0}}}}, "max_run"},
      {{{"Environment", {{"SM_MINE", "1"}}}}, "Trainwarden sets variables"},
      {{{"ExperimentConfig", {{"ExperimentName", "nobody"}, {"TrialName", "none"}}}}, "nobody"},
  };
  for (auto [fields, words] : wrong) {
    fields.update(captured);
    const Outcome outcome = request(fields);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(jobs() / "asked")) << words;
    EXPECT_FALSE(fs::is_symlink(tensors / "asked/debug-output")) << words;
  }
  fs::create_directories(tensors / "asked/debug-output");
  const Outcome taken = request(captured);
  EXPECT_NE(taken.err.find("is there already"), std::string::npos) << taken.err;
  EXPECT_TRUE(fs::is_directory(tensors / "asked/debug-output")) << "what is not ours stays";
  EXPECT_EQ(request(json::object(), {"--array", "lr=1,2"}).exit_code, 2);
}

}  // namespace
}  // namespace trainwarden::testing_cli
