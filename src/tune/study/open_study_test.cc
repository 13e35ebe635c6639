// Studies whose trials ask for parameters.
#include <cmath>

#include <gtest/gtest.h>

#include "store/storage/memory_storage.h"
#include "tune/search/samplers/all.h"
#include "tune/study/study.h"

namespace trainwarden::tune {
namespace {

Hyperparameter real(std::string name, double min, double max) {
  return {.name = std::move(name), .min = min, .max = max};
}

class OpenStudyTest : public testing::Test {
 protected:
  Study create(bool open = true, std::string name = "grows") {
    StudySpec spec{
        .name = std::move(name), .space = Space::none(), .open = open, .metrics = {{.name = "loss"}}, .seed = 5};
    if (!open) spec.space = *Space::make({real("x", 0, 1)});
    return *Study::create(studies_, std::move(spec), clock_);
  }
  Study open() { return *Study::open(studies_, "grows", clock_); }
  // The position of a parameter in a trial's point, of a study that is read again.
  double value(std::int64_t trial, std::string_view name) {
    const Study study = open();
    EXPECT_EQ(study.damaged(), 0);
    const History& history = study.state().history();
    return history.trials[static_cast<std::size_t>(trial)].point[*history.space.find(name)];
  }

  FakeClock clock_;
  std::shared_ptr<storage::MemoryStorage> memory_ = storage::create_memory_storage();
  storage::Location studies_{memory_, "studies"};
  std::unique_ptr<TrialSampler> sampler_ = *make_sampler("tpe");
};

TEST_F(OpenStudyTest, WhatATrialAsksForIsThereForTheNextOne) {
  Study study = create();
  ASSERT_EQ(*study.ask(*sampler_, {}), 0);
  const auto values = study.extend(0, {real("x", 2, 3), real("y", 0, 1)});
  ASSERT_TRUE(values.ok()) << values.status().message();
  EXPECT_EQ(value(0, "x"), std::get<double>(values->at("x")));
  ASSERT_EQ(*study.ask(*sampler_, {}), 1);
  EXPECT_GE(value(1, "x"), 2);
  const std::int64_t before = study.state().last_unix_ns();
  EXPECT_EQ(std::get<double>(study.extend(1, {real("x", 2, 3)})->at("x")), value(1, "x"));
  EXPECT_EQ(study.state().last_unix_ns(), before);
}

TEST_F(OpenStudyTest, TheSameTrialsHaveTheSameValues) {
  Study one = create(), other = create(true, "twin");
  for (Study* study : {&one, &other}) {
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(*study->ask(*sampler_, {}), i);
      ASSERT_TRUE(study->extend(i, {real("x", 0, 1), real("y" + std::to_string(i), 0, 1)}).ok());
      ASSERT_TRUE(study->finish(i, {.metrics = {{"loss", i}}, .why = "", .seconds = {}}).ok());
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const auto values = [&](const Study& study) {
      return study.state().history().space.values_of(study.state().history().trials[i].point);
    };
    EXPECT_EQ(values(one), values(other));
  }
}

TEST_F(OpenStudyTest, WhatHadNoEffectIsNotLearntFrom) {
  Study study = create();
  ASSERT_EQ(*study.ask(*sampler_, {}), 0);
  ASSERT_TRUE(study.extend(0, {real("x", 0, 1), real("y", 0, 1)}).ok());
  ASSERT_TRUE(study.finish(0, {.metrics = {{"loss", 1}}, .why = "", .seconds = {}}).ok());
  ASSERT_EQ(*study.ask(*sampler_, {}), 1);
  ASSERT_TRUE(study
                  .finish(1, {.metrics = {{"loss", 1}},
                              .why = "",
                              .seconds = {},
                              .unused = {"y"},
                              .attributes = {{"note", "[1,2]"}, {"word", "no json"}}})
                  .ok());
  EXPECT_FALSE(std::isnan(value(1, "x")));
  EXPECT_TRUE(std::isnan(value(1, "y")));
  EXPECT_FALSE(std::isnan(value(0, "y")));
  EXPECT_EQ(open().state().record(1).attributes.at("note"), "[1,2]");
  EXPECT_EQ(open().state().record(1).attributes.at("word"), "\"no json\"");
}

TEST_F(OpenStudyTest, NamedValuesWaitForTheirParameters) {
  Study study = create();
  ASSERT_EQ(*study.enqueue({{"x", 0.75}, {"far", 9.0}}), 0);
  ASSERT_EQ(*study.ask(*sampler_, {}), 0);
  const auto values = study.extend(0, {real("x", 0, 1), real("far", 0, 1)});
  EXPECT_EQ(std::get<double>(values->at("x")), 0.75);
  EXPECT_LE(std::get<double>(values->at("far")), 1);  // what was named lies outside
}

TEST_F(OpenStudyTest, ALaterRangeWidensAndAnotherKindIsRefused) {
  Study study = create();
  ASSERT_EQ(*study.ask(*sampler_, {}), 0);
  ASSERT_EQ(*study.ask(*sampler_, {}), 1);
  ASSERT_TRUE(study.extend(0, {real("x", 0, 1)}).ok());
  const double before = value(0, "x");
  EXPECT_GE(std::get<double>(study.extend(1, {real("x", 5, 6)})->at("x")), 5);
  EXPECT_EQ(value(0, "x"), before);
  EXPECT_EQ(open().state().history().space[0].max, 6);
  const auto choice = study.extend(1, {{.name = "x", .kind = ParameterKind::kChoice, .choices = {"a"}}}).status();
  EXPECT_EQ(choice.code(), Code::kFailedPrecondition);
  EXPECT_NE(choice.message().find("one of a"), std::string::npos);
  EXPECT_EQ(study.extend(1, {real("y", 2, 1)}).status().code(), Code::kInvalidArgument);
}

TEST_F(OpenStudyTest, OnlyRunningTrialsOfOpenStudiesAskForMore) {
  Study closed = create(false, "closed");
  ASSERT_EQ(*closed.ask(*sampler_, {}), 0);
  const Status refused = closed.extend(0, {real("y", 0, 1)}).status();
  EXPECT_NE(refused.message().find("open = true"), std::string::npos) << refused.message();
  Study study = create();
  EXPECT_FALSE(study.extend(0, {real("y", 0, 1)}).ok());
  ASSERT_EQ(*study.ask(*sampler_, {}), 0);
  ASSERT_TRUE(study.finish(0, {.metrics = {{"loss", 1}}, .why = "", .seconds = {}}).ok());
  EXPECT_NE(study.extend(0, {real("y", 0, 1)}).status().message().find("has ended"), std::string::npos);
}

TEST_F(OpenStudyTest, ThereAreOnlySoManyParameters) {
  Study study = create();
  ASSERT_EQ(*study.ask(*sampler_, {}), 0);
  std::vector<Hyperparameter> many;
  for (std::size_t i = 0; i <= kMaxParameters; ++i) many.push_back(real("x" + std::to_string(i), 0, 1));
  EXPECT_NE(study.extend(0, many).status().message().find("1 to 256"), std::string::npos);
  EXPECT_EQ(open().state().history().space.size(), 0u) << "all or nothing";
}

TEST_F(OpenStudyTest, ADamagedExtensionCostsItsValuesAlone) {
  Study study = create();
  ASSERT_EQ(*study.ask(*sampler_, {}), 0);
  ASSERT_TRUE(study.extend(0, {real("x", 0, 1)}).ok());
  ASSERT_TRUE(study.finish(0, {.metrics = {{"loss", 1}}, .why = "", .seconds = {}}).ok());
  ASSERT_EQ(*study.ask(*sampler_, {}), 1);
  memory_->set_content("grows/log/00000002.json", "{");
  Study again = open();
  EXPECT_EQ(again.damaged(), 1);
  EXPECT_EQ(again.state().history().trials.size(), 2u);
  EXPECT_TRUE(again.extend(1, {real("x", 0, 1)}).ok());
}

TEST_F(OpenStudyTest, ASmallSpaceIsNoEnd) {
  Study study = create();
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(*study.ask(*sampler_, {}), i);
    ASSERT_TRUE(study.extend(i, {{.name = "k", .kind = ParameterKind::kChoice, .choices = {"only"}}}).ok());
    ASSERT_TRUE(study.finish(i, {.metrics = {{"loss", 1}}, .why = "", .seconds = {}}).ok());
  }
}

}  // namespace
}  // namespace trainwarden::tune
