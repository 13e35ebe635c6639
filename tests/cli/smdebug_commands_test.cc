// The commands on folders that smdebug wrote: they are read like runs of ours, and nothing is written into them.
#include <fmt/format.h>

#include "cli_harness.h"
#include "data/foreign/smdebug_layout.h"
#include "read/trial/smdebug/smdebug_testing.h"

namespace trainwarden::testing_cli {
namespace {

namespace fs = std::filesystem;

class SmdebugCommands : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    foreign::SmdebugCollection losses;
    losses.collection = {.name = "losses", .include = {"[Ll]oss"}};
    run_ = std::make_unique<SmdebugTestRun>(1, std::vector<foreign::SmdebugCollection>{losses});
    for (std::int64_t step = 0; step < 5; ++step) {
      run_->add({.step = step, .tensors = {{"Loss_output_0", {1}}, {"w", {1, 2, 3}}}, .mode = Mode::kTrain});
    }
    run_->end();
  }

  // Into runs/old.
  void write() const { run_->copy_to(run_path("old")); }
  std::size_t file_count() const {
    const fs::recursive_directory_iterator entries(run_path("old"));
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  }

  std::unique_ptr<SmdebugTestRun> run_;
};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_F(SmdebugCommands, DescribeTellsWhatIsKnown) {
  write();
  const auto before = file_count();
  const auto job = cli({"describe", "old", "--json"}).json();
  EXPECT_EQ(job.at("TrainingJobName"), "old");
  EXPECT_EQ(job.at("TrainingJobStatus"), "Completed");
  EXPECT_EQ(job.at("Recorder"), "smdebug");
  EXPECT_EQ(job.at("Steps"), 5);
  EXPECT_TRUE(job.at("DebugRuleEvaluationStatuses").empty());
  EXPECT_EQ(cli({"describe", "old"}).exit_code, 0);
  EXPECT_EQ(file_count(), before);
}

TEST_F(SmdebugCommands, LsMarksThem) {
  write();
  train("ours");
  const auto runs = cli({"ls", "--json"}).json().at("runs");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].at("recorder"), "trainwarden");
  EXPECT_EQ(runs[1].at("recorder"), "smdebug");
  EXPECT_EQ(runs[1].at("steps"), 5);
  EXPECT_EQ(runs[1].at("last_loss").at("value"), 1.0);
  EXPECT_TRUE(contains(cli({"ls"}).out, "completed (smdebug)"));
}

TEST_F(SmdebugCommands, TheyAreShownLikeOthers) {
  write();
  const auto shown = cli({"show", "old", "--json"}).json();
  EXPECT_EQ(shown.at("recorder"), "smdebug");
  EXPECT_EQ(shown.at("workers"), nlohmann::json::array({"worker_0"}));
  EXPECT_EQ(shown.at("collections").at("losses"), 1);
  EXPECT_TRUE(contains(cli({"show", "old"}).out, "recorded by smdebug"));
  EXPECT_EQ(cli({"tensors", "old", "--json"}).json().at("tensors").size(), 2u);
  EXPECT_EQ(cli({"steps", "old", "--mode", "train", "--json"}).json().at("steps").size(), 5u);
  const auto value = cli({"value", (runs_ / "old").string(), "w", "--step", "4", "--json", "--elements"}).json();
  EXPECT_EQ(value.at("elements"), nlohmann::json::array({1.0, 2.0, 3.0}));
}

TEST_F(SmdebugCommands, WithoutEndMarkerShowSaysHowOldTheNewestStepIs) {
  write();
  fs::remove(run_path("old") / std::string(foreign::kSmdebugEndMarker));
  const Outcome shown = cli({"show", "old"});
  EXPECT_TRUE(contains(shown.out, "old  running")) << shown.out;
  EXPECT_TRUE(contains(shown.out, "there is no end marker")) << shown.out;
  EXPECT_TRUE(contains(shown.out, "its newest step came")) << shown.out;
}

TEST_F(SmdebugCommands, DoctorReadsEveryRecord) {
  write();
  const Outcome healthy = cli({"doctor", "old", "--json"});
  EXPECT_EQ(healthy.exit_code, 0) << healthy.out;
  EXPECT_EQ(healthy.json().at("healthy"), true);
  EXPECT_EQ(healthy.json().at("recorder"), "smdebug");

  const std::string damaged = foreign::smdebug_event_file(1, "worker_0");
  const std::string missing = foreign::smdebug_event_file(2, "worker_0");
  const std::string bad_index = foreign::smdebug_index_file(3, "worker_0");
  std::string events = run_->storage()->content(damaged);
  events[0] = static_cast<char>(events[0] ^ 1);
  run_->put(damaged, events);
  run_->put(bad_index, "{");
  write();
  fs::remove(run_path("old") / missing);
  const Outcome outcome = cli({"doctor", "old", "--json"});
  EXPECT_EQ(outcome.exit_code, 4);
  const auto losses = outcome.json().at("journals").at(0).at("losses");
  ASSERT_EQ(losses.size(), 2u) << losses;
  EXPECT_EQ(losses[0].at("cause"), "damaged record");
  EXPECT_EQ(losses[1].at("cause"), "event file missing");
  ASSERT_EQ(outcome.json().at("losses").size(), 1u);
  EXPECT_EQ(outcome.json().at("losses")[0].at("where"), bad_index);
  EXPECT_TRUE(contains(cli({"doctor", "old"}).out, bad_index));
}

TEST_F(SmdebugCommands, RulesJudgeThemAndNothingIsWritten) {
  write();
  const std::size_t files = file_count();
  EXPECT_EQ(cli({"check", "old", "--rule", "ExplodingTensor"}).exit_code, 0);
  const Outcome watched = cli({"watch", "old", "--rule", "ExplodingTensor", "--json"});
  EXPECT_EQ(watched.exit_code, 0) << watched.err;
  EXPECT_EQ(watched.json().at("journal"), "");
  EXPECT_EQ(watched.json().at("run_ended"), true);
  EXPECT_TRUE(contains(watched.err, "verdicts are not kept")) << watched.err;

  for (const Outcome& refused : {cli({"watch", "old", "--rule", "ExplodingTensor", "--on-fire", "stop"}),
                                 cli({"capture", "old", "--include-collection", "weights"})}) {
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_TRUE(contains(refused.err, "was recorded by smdebug")) << refused.err;
  }
  EXPECT_EQ(file_count(), files);
}

TEST_F(SmdebugCommands, OtherFoldersAreNoRuns) {
  fs::create_directories(run_path("notes"));
  const Outcome outcome = cli({"show", run_path("notes").string()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.err, "no run at")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "smdebug")) << outcome.err;
}

}  // namespace
}  // namespace trainwarden::testing_cli
