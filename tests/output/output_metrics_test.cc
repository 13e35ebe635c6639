#include "work/output/output_metrics.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "read/trial/run_testing.h"
#include "work/output/kept_position.h"

namespace trainwarden::output {
namespace {

namespace fs = std::filesystem;

class OutputMetricsTest : public ::testing::Test {
 protected:
  void SetUp() override { print(""); }

  void print(const std::string& text) const { std::ofstream(log_, std::ios::app | std::ios::binary) << text; }
  std::unique_ptr<OutputMetrics> start(const std::string& definitions = "") {
    OutputPlan plan{run_, {}, log_, 0, std::nullopt, false, [this](std::string_view bytes) { seen_ += bytes; }};
    plan.info.labels = {{"lr", "0.1"}};
    if (!definitions.empty()) plan.definitions = log_metrics::parse_definitions(definitions, "metrics.toml").value();
    auto output = OutputMetrics::start(std::move(plan));
    EXPECT_TRUE(output.ok()) << output.status().message();
    return *std::move(output);
  }
  // As an attempt of a job, whose log is of its run alone.
  std::unique_ptr<OutputMetrics> go_on() const {
    OutputPlan plan{run_, {}, log_};
    plan.goes_on = true;
    return OutputMetrics::start(std::move(plan)).value();
  }
  // Of what follows, all that is kept.
  OutputResult read(const std::string& text, const std::string& definitions = "") {
    const auto output = start(definitions);
    print(text);
    OutputResult result = output->finish(true);
    EXPECT_TRUE(result.status.ok()) << result.status.message();
    return result;
  }
  std::vector<double> values(const std::string& metric) const { return read_values(metric, &Trial::samples); }
  std::vector<double> steps(const std::string& metric) const { return read_values(metric, &Trial::sample_steps); }

  TestFolder folder_;
  fs::path log_ = folder_.path() / "output.log";
  fs::path run_ = folder_.path() / "run";
  std::string seen_;

 private:
  using Read = Result<std::vector<Sample>> (Trial::*)(const SampledMetric&, std::int64_t, std::int64_t);
  std::vector<double> read_values(const std::string& metric, Read how) const {
    std::vector<double> values;
    const auto trial = Trial::open(run_).value();
    for (const SampledMetric& one : trial->metrics()) {
      if (one.metric.name != metric) continue;
      const auto samples = ((*trial).*how)(one, 0, std::numeric_limits<std::int64_t>::max());
      for (const Sample& sample : samples.value()) values.push_back(sample.value);
    }
    return values;
  }
};

TEST_F(OutputMetricsTest, StylesNeedNoPatternAndNoHook) {
  print("{'loss': 9.0}\n");  // of an earlier attempt
  const OutputResult result =
      read("Epoch 1/2\n1/2 [==>..] - ETA: 3s - loss: 2.5\r2/2 [====] - 3s - loss: 1.5\nready\n");
  EXPECT_EQ(values("loss"), (std::vector<double>{2.5, 1.5}));
  EXPECT_EQ(steps("loss"), (std::vector<double>{1, 2}));
  const auto trial = Trial::open(run_).value();
  EXPECT_EQ(trial->state(), RunState::kCompleted);
  EXPECT_EQ(trial->labels().at("lr"), "0.1");
  EXPECT_EQ(TrialAccess::output_report(*trial), result.report);
  ASSERT_EQ(result.report.metrics.size(), 1u);
  EXPECT_EQ(result.report.metrics[0].values, 2u);
  EXPECT_TRUE(seen_.starts_with("Epoch 1/2")) << "who prints it again gets all that is new";
}

TEST_F(OutputMetricsTest, DefinitionsKeepNanAndInfinityAndCountWhatIsNoNumber) {
  const OutputResult result = read("loss: 2\nloss: nan\nloss: -inf\nloss: none\nloss: 1e-3\n",
                                   "[[metric]]\nname = 'train:loss'\nregex = 'loss: (\\S+)'\n"
                                   "[[metric]]\nname = 'absent'\nregex = 'never (\\S+)'\n");
  const std::vector<double> found = values("train:loss");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_TRUE(std::isnan(found[1]));
  EXPECT_EQ(found[2], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(found[3], 1e-3);
  ASSERT_EQ(result.report.metrics.size(), 2u);
  EXPECT_EQ(result.report.metrics[0].parse_errors, 1u);
  EXPECT_EQ(result.report.metrics[0].first_unreadable, "none");
  EXPECT_EQ(result.report.metrics[1].values, 0u);
}

TEST_F(OutputMetricsTest, AnotherAttemptGoesOnInTheSameRun) {
  const auto first = start();
  print("{'loss': 3.0}\n");
  EXPECT_TRUE(first->finish(false).status.ok());
  EXPECT_EQ(Trial::open(run_).value()->state(), RunState::kDied);
  read("{'loss': 2.0}\n");
  EXPECT_EQ(values("loss"), (std::vector<double>{3, 2}));
  const auto trial = Trial::open(run_).value();
  EXPECT_EQ(trial->state(), RunState::kCompleted);
  EXPECT_EQ(TrialAccess::output_report(*trial)->metrics[0].values, 2u);
}

TEST_F(OutputMetricsTest, WhatAKilledAttemptDidNotKeepIsReadByTheNext) {
  print("{'loss': 5.0}\n");  // by an attempt that was killed before it kept anything
  const auto first = go_on();
  print("{'loss': 4.0}\nhalf a rec");
  EXPECT_TRUE(first->finish(false).status.ok());
  print("ord\n{'loss': 3.0}\n");  // by one that was killed too
  const auto second = go_on();
  print("{'loss': 2.0}\n");
  EXPECT_TRUE(second->finish(true).status.ok());
  EXPECT_EQ(values("loss"), (std::vector<double>{5, 4, 3, 2}));
}

TEST_F(OutputMetricsTest, AKilledReadingSaysUpToWhereItKept) {
  const storage::Location run(run_);
  const auto killed = go_on();
  print("{'loss': 4.0}\nhalf a rec");
  std::optional<std::uint64_t> position;
  while (!position || *position == 0) {
    std::this_thread::yield();
    const auto now = kept_position(run.storage(), 0, log_);
    if (now.ok()) position = *now;
  }
  EXPECT_EQ(position, 14u) << "half a record is read again";
  EXPECT_EQ(kept_position(run.storage(), 0, folder_.path() / "another.log").value(), std::nullopt);
  EXPECT_EQ(kept_position(run.storage(), 1, log_).value(), 0u) << "nothing of this rank is kept";
}

TEST_F(OutputMetricsTest, WhatRunItselfPrintsIsNotRead) {
  read("trainwarden: loss: 7\nloss: 2\n", "[[metric]]\nname = 'loss'\nregex = 'loss: (\\S+)'\n");
  EXPECT_EQ(values("loss"), std::vector<double>{2});
}

TEST_F(OutputMetricsTest, GarbageIsReadToItsEnd) {
  std::string garbage(1 << 20, '\0');
  for (std::size_t i = 0; i < garbage.size(); ++i) garbage[i] = static_cast<char>((i * 2654435761u) >> 13);
  const OutputResult result = read(garbage + "\n" + std::string(1 << 20, 'x') + "\n{'loss': 2.0}\n");
  EXPECT_EQ(values("loss"), std::vector<double>{2});
  EXPECT_GE(result.report.cut_records, 1u);
  EXPECT_EQ(result.report.bytes, seen_.size());
}

TEST_F(OutputMetricsTest, ALogThatIsEmptiedIsReadOn) {
  const auto output = start();
  print("{'loss': 2.0}\n");
  while (Trial::open(run_).status().code() == Code::kNotFound) std::this_thread::yield();  // it was read
  fs::resize_file(log_, 0);
  print("{'l': 1.0}\n");
  const OutputResult result = output->finish(true);
  EXPECT_EQ(result.report.restarts, 1u);
  EXPECT_EQ(values("l"), std::vector<double>{1});
}

TEST_F(OutputMetricsTest, AProgramThatPrintsNoMetricLeavesNoRun) {
  const OutputResult result = read("hello\n");
  EXPECT_EQ(result.report.records, 1u);
  EXPECT_FALSE(fs::exists(run_));
}

TEST_F(OutputMetricsTest, ARunOfAWorkerLearnsWhatWasNotFound) {
  TestRun worker;
  worker.add_steps(0, 1);
  worker.end();
  worker.save_to(run_);
  read("loss: none\n", "[[metric]]\nname = 'loss'\nregex = 'loss: (\\S+)'\n");
  const auto trial = Trial::open(run_).value();
  EXPECT_EQ(trial->workers().size(), 1u);
  EXPECT_EQ(trial->metrics().size(), 0u);
  EXPECT_EQ(TrialAccess::output_report(*trial)->metrics[0].parse_errors, 1u);
}

TEST_F(OutputMetricsTest, WhatCannotBeKeptIsCountedAndTheReadingGoesOn) {
  std::ofstream(run_) << "no folder";
  const auto output = start();
  print("{'loss': 2.0, 'epoch': 1.0}\n");
  const OutputResult result = output->finish(true);
  EXPECT_FALSE(result.status.ok());
  EXPECT_EQ(result.report.lost_values, 2u);
  EXPECT_EQ(result.report.bytes, seen_.size());
}

TEST_F(OutputMetricsTest, ALogThatIsNotThereIsAnError) {
  fs::remove(log_);
  EXPECT_EQ(OutputMetrics::start({run_, {}, log_}).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace trainwarden::output
