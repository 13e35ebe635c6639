// Folders of SageMaker's profiler, and its profilerconfig.json, as a user types them.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>

#include "cli_harness.h"
#include "core/base/clock.h"
#include "read/trial/run_testing.h"
#include "trainwarden/trial.h"

namespace trainwarden::testing_cli {
namespace {

namespace fs = std::filesystem;

class ProfilerFolder : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ::unsetenv("SMPROFILER_CONFIG_PATH");
    TestRun run;
    const auto host = [](const char* name, MetricKind kind) {
      return Metric{name, "", kind, MetricSource::kHost, "n"};
    };
    run.sample_together({{host("cpu.0.busy", MetricKind::kCounter), {0, 0.5, 1}}}, 1'000'000'000);
    for (std::int64_t step = 0; step < 3; ++step) {
      run.add({.step = step,
               .tensors = {scalar("phase/step", 0.5f), scalar("phase/forward", 0.25f)},
               .mode = Mode::kTrain});
    }
    run.end();
    run.save_to(run_path("first"));
    TestRun plain;
    plain.add_steps(0, 3);
    plain.end();
    plain.save_to(run_path("plain"));
  }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  // Whole or not at all, as who writes beside a reader has to.
  void write_config(const std::string& text) const {
    std::ofstream(at("config.new")) << text;
    fs::rename(at("config.new"), at("config.json"));
  }

  // A training that goes on until it is asked to stop, with what is said of it in its output.
  std::unique_ptr<Background> follow(const std::string& name, const std::string& options = "") const {
    const std::string command = "exec '" + cli_binary().string() + "' run --name " + name + " --profiler-config " +
                                at("config.json") + " " + options + " -- '" + tiny_training().string() +
                                "' --until-stopped 2>&1";
    return std::make_unique<Background>(std::vector<std::string>{"sh", "-c", command}, folder_);
  }

  // When the machine of the run was looked at.
  static std::vector<std::int64_t> sampled_at(const fs::path& run) {
    std::vector<std::int64_t> times;
    const auto trial = Trial::open(run);
    if (!trial.ok()) return times;
    for (const SampledMetric& sampled : (*trial)->metrics()) {
      if (sampled.metric.name != "sampler.lateness" || sampled.metric.instance != "host") continue;
      const auto samples = (*trial)->samples(sampled, 0, std::numeric_limits<std::int64_t>::max());
      if (!samples.ok()) continue;
      for (const Sample& sample : *samples) times.push_back(sample.unix_ns);
    }
    return times;
  }
};

TEST_F(ProfilerFolder, GoesOutAndComesIn) {
  const Outcome out = cli({"export", "first", "--to", "smdebug-profiler", at("p"), "--json"});
  ASSERT_EQ(out.exit_code, 0) << out.err;
  EXPECT_EQ(out.json().at("samples"), 2);
  EXPECT_EQ(out.json().at("steps"), 3);
  EXPECT_EQ(cli({"export", "first", "--to", "smdebug-profiler", at("p")}).exit_code, 1) << "it is not empty";
  const Outcome in = cli({"import", at("p"), "--name", "again", "--json"});
  ASSERT_EQ(in.exit_code, 0) << in.err;
  EXPECT_EQ(in.json().at("samples"), 2);
  EXPECT_EQ(in.json().at("steps"), 3);
  const Outcome system = cli({"system", "again", "--parts"});
  EXPECT_EQ(system.exit_code, 0) << system.err;
  EXPECT_NE(system.out.find("processor"), std::string::npos);
  EXPECT_EQ(cli({"phases", "again"}).exit_code, 0);
}

TEST_F(ProfilerFolder, ARunWithoutAProfileSaysSo) {
  const Outcome none = cli({"export", "plain", "--to", "smdebug-profiler", at("p")});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("no samples of a machine"), std::string::npos) << none.err;
  EXPECT_EQ(cli({"export", "first", "--to", "smdebug-profiler", at("p"), "--include", "x"}).exit_code, 2);
}

TEST_F(ProfilerFolder, MistakesInAConfigurationComeBeforeTheProgram) {
  std::ofstream(at("wrong.json")) << R"({"ProfilingIntervalInMilliseconds": "often"})";
  const Outcome wrong = cli({"run", "--profiler-config", at("wrong.json"), "--", "touch", at("started")});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("expected a whole number from 10 on"), std::string::npos) << wrong.err;
  EXPECT_FALSE(fs::exists(at("started")));
}

TEST_F(ProfilerFolder, ALiveEditStopsTheSamplingAndLetsItGoOn) {
  write_config(R"({"ProfilingIntervalInMilliseconds": 20})");
  const auto program = follow("live");
  const auto times = [this] { return sampled_at(run_path("live")); };
  const auto from = [](const std::vector<std::int64_t>& sorted, std::int64_t unix_ns) {
    return std::ranges::lower_bound(sorted, unix_ns);
  };
  await([&] { return !times().empty(); });
  write_config(R"({"ProfilingIntervalInMilliseconds": 20, "DisableProfiler": true})");
  program->await_output("config.json: the machine is not sampled any more");
  const std::int64_t rests_ns = system_clock().unix_ns();
  const auto last_step = [this] {
    return cli({"steps", "live", "--json"}).json().at("last_complete_step").get<std::int64_t>();
  };
  await([&, before = last_step()] { return last_step() >= before + 300; });  // a millisecond each, at least
  const std::int64_t goes_on_ns = system_clock().unix_ns();
  write_config(R"({"ProfilingIntervalInMilliseconds": 50})");
  program->await_output("config.json: the machine is sampled every 50 ms, its GPUs every 50 ms");
  await([&] {
    const std::vector<std::int64_t> sorted = times();
    return sorted.end() - from(sorted, goes_on_ns) >= 10;
  });
  ASSERT_EQ(cli({"stop", "live"}).exit_code, 0);
  EXPECT_EQ(program->wait().exit_code, 0);
  const std::vector<std::int64_t> sorted = times();
  const auto after = from(sorted, goes_on_ns);
  EXPECT_LE(after - from(sorted, rests_ns), 1) << "one tick may have been on its way";
  // The first may be late, and the last is made when the training ends.
  EXPECT_LE(sorted.end() - after - 3, (sorted.back() - *after) / 50'000'000) << "at the new interval";
}

TEST_F(ProfilerFolder, WhatIsSwitchedOffAtTheStartCanBeSwitchedOn) {
  write_config(R"({"DisableProfiler": true})");
  const auto program = follow("late", "--sample-interval 30ms");
  await_file(run_path("late") / "run.json");
  EXPECT_TRUE(sampled_at(run_path("late")).empty());
  write_config(R"({"DisableProfiler": false, "ProfilingIntervalInMilliseconds": 1000})");
  program->await_output("the machine is sampled every 30 ms, its GPUs every 1000 ms");
  ASSERT_EQ(cli({"stop", "late"}).exit_code, 0);
  EXPECT_EQ(program->wait().exit_code, 0);
  EXPECT_FALSE(sampled_at(run_path("late")).empty());
}

TEST_F(ProfilerFolder, WithoutASamplerALiveEditSaysSo) {
  write_config("{}");
  const auto program = follow("none", "--no-sample");
  await_file(run_path("none") / "run.json");
  write_config(R"({"ProfilingIntervalInMilliseconds": 200})");
  program->await_output("the machine is not sampled: --no-sample was typed");
  ASSERT_EQ(cli({"stop", "none"}).exit_code, 0);
  program->wait();
}

TEST_F(ProfilerFolder, AConfigurationReachesTheProgram) {
  std::ofstream(at("config.json")) << R"({"DisableProfiler": false, "ProfilingParameters": {"LocalPath": "/x",
      "DetailedProfilingConfig": "{\"StartStep\": 3, \"NumSteps\": 4}"}})";
  const Outcome outcome = cli({"run", "--profiler-config", at("config.json"), "--", "sh", "-c",
                               "printf %s \"$TRAINWARDEN_PROFILE_STEPS\" > " + at("steps")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("without effect here: localpath"), std::string::npos) << outcome.err;
  std::ifstream steps(at("steps"));
  std::string text;
  std::getline(steps, text);
  EXPECT_EQ(text, "3:7");
}

}  // namespace
}  // namespace trainwarden::testing_cli
