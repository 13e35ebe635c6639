#include "tune/study/study_spec.h"

#include <gtest/gtest.h>

namespace trainwarden::tune {
namespace {

constexpr const char* kText = R"(
name = "squad"
sampler = "tpe"
seed = 7
parallel = 2
job = "job.toml"
repeats = "run"
from = ["bert", "albert"]

[parameters]
learning_rate = {min = 1e-6, max = 3e-4, log = true, first = 5e-5}
warmup = {min = 0.0, max = 0.2, step = 0.05}
batch_size = {choices = [16, 24, 32], ordered = true}
layers = {min = 2, max = 6}
width = {min = 8, max = 64, when = {layers = [4, 5]}}
optimizer = {choices = ["adam", "lamb"]}

[[constraints]]
weights = {layers = 1, warmup = 10.0}
max = 7

[metrics]
training_time = {goal = "minimize"}
f1 = {goal = "maximize", strategy = "constrain", threshold = 90.87}
memory = {goal = "minimize", strategy = "store"}

[budget]
trials = 40
wall = "2 h"
stagnation = 10
regret = 0.5
)";

std::optional<StudySpec> read(const std::string& text, document::Mistakes& mistakes) {
  return read_study_spec(*document::parse(text, "study.toml"), mistakes);
}

TEST(StudySpecTest, IsReadAsItIsWritten) {
  document::Mistakes mistakes;
  const auto spec = read(kText, mistakes);
  ASSERT_TRUE(spec) << mistakes.status().message();
  EXPECT_EQ(spec->name, "squad");
  EXPECT_EQ(spec->space.size(), 6u);
  const auto parameter = [&](std::string_view name) { return spec->space[*spec->space.find(name)]; };
  EXPECT_EQ(parameter("learning_rate").kind, ParameterKind::kReal);
  EXPECT_TRUE(parameter("learning_rate").log);
  EXPECT_EQ(parameter("learning_rate").first, TriedValue(5e-5));
  EXPECT_EQ(parameter("warmup").step, 0.05);
  EXPECT_EQ(parameter("batch_size").choices,
            (std::vector<TriedValue>{std::int64_t{16}, std::int64_t{24}, std::int64_t{32}}));
  EXPECT_TRUE(parameter("batch_size").ordered);
  EXPECT_EQ(parameter("layers").kind, ParameterKind::kInteger);
  EXPECT_EQ(parameter("width").when->parameter, "layers");
  EXPECT_EQ(spec->space.constraints().size(), 1u);
  EXPECT_EQ(spec->repeats, Repeats::kRun);
  EXPECT_EQ(spec->from, (std::vector<std::string>{"bert", "albert"}));
  EXPECT_EQ(spec->budget.regret, 0.5);
  EXPECT_EQ(spec->metrics[0].strategy, Strategy::kConstrain);
  EXPECT_EQ(spec->metrics[0].threshold, 90.87);
  EXPECT_EQ(spec->budget.wall_seconds, 7200);
  EXPECT_EQ(spec->budget.stagnation, 10);
  EXPECT_TRUE(spec->has_target());
}

TEST(StudySpecTest, ItsJsonIsReadAsTheSame) {
  document::Mistakes mistakes;
  const auto spec = read(kText, mistakes);
  ASSERT_TRUE(spec);
  const std::string json = json_of(*spec).dump();
  const auto again = read(json, mistakes);
  ASSERT_TRUE(again) << mistakes.status().message();
  EXPECT_EQ(json_of(*again).dump(), json);
  EXPECT_EQ(again->space[*again->space.find("warmup")].kind, ParameterKind::kReal);
}

TEST(StudySpecTest, TheOrderOfADocumentDoesNotMatter) {
  document::Mistakes mistakes;
  const auto spec = read(R"(
parameters.a_width = {min = 1, max = 9, when = {z_kind = "deep"}}
parameters.z_kind = {choices = ["deep", "flat"]}
metrics.loss.goal = "minimize"
)",
                         mistakes);
  ASSERT_TRUE(spec) << mistakes.status().message();
  EXPECT_EQ(spec->space[0].name, "z_kind");
  EXPECT_EQ(spec->space[1].name, "a_width");
}

TEST(StudySpecTest, AllMistakesAreToldWithTheirPlaces) {
  document::Mistakes mistakes;
  EXPECT_FALSE(read(R"(
[parameters]
rate = {min = 1.0}
kind = 3
other = {choices = ["a"], logg = true}
[metrics]
f1 = {strategy = "constrain"}
loss = {goal = "least"}
[budget]
trials = 0
pruner = "asha"
)",
                    mistakes));
  const std::string message = mistakes.status().message();
  for (const char* part : {"study.toml, line 3: rate: expected min and max", "line 4: kind: expected a table",
                           "line 5: unknown key \"logg\"", "line 7: f1: expected a goal", "f1: expected a threshold",
                           "loss: expected a goal, minimize or maximize, found \"least\"", "trials: expected 1 to",
                           "unknown key \"pruner\""}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
}

TEST(StudySpecTest, WhatIsWrongWithASpaceIsTold) {
  document::Mistakes mistakes;
  EXPECT_FALSE(read("parameters.rate = {min = 2.0, max = 1.0}\nmetrics.loss.goal = 'minimize'\n", mistakes));
  EXPECT_NE(mistakes.status().message().find("rate: expected min <= max, found 2 and 1"), std::string::npos)
      << mistakes.status().message();
}

TEST(StudySpecTest, NothingIsNoStudy) {
  document::Mistakes mistakes;
  EXPECT_FALSE(read("", mistakes));
  EXPECT_NE(mistakes.status().message().find("expected a table `parameters`"), std::string::npos);
}

TEST(StudySpecTest, NamesAreThoseOfJobs) {
  for (const char* good : {"a", "a-b", "squad-2", "A1"}) EXPECT_TRUE(is_study_name(good)) << good;
  for (const char* bad : {"", "-a", "a-", "a--b", "a b", "../a", "a/b", "a_b"}) EXPECT_FALSE(is_study_name(bad)) << bad;
  EXPECT_FALSE(is_study_name(std::string(kMaxStudyNameBytes + 1, 'a')));
}

}  // namespace
}  // namespace trainwarden::tune
