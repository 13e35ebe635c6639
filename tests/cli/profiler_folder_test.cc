// Folders of SageMaker's profiler, and its profilerconfig.json, as a user types them.
#include <cstdlib>
#include <fstream>

#include "cli_harness.h"
#include "read/trial/run_testing.h"

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
