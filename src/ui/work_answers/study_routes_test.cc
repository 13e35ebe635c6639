// What the addresses of studies answer.
#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "data/format/json.h"
#include "ui/answers/router.h"
#include "ui/work_answers/study_json.h"
#include "ui/work_answers/work_desk.h"

namespace trainwarden::work_answers {
namespace {

namespace fs = std::filesystem;
using format::Json;
using tune::Study;

tune::StudySpec spec_named(const std::string& name) {
  const char* const text = R"({
    "parameters": {"lr": {"min": 0.001, "max": 1.0, "log": true}, "optimizer": {"choices": ["adam", "sgd"]}},
    "metrics": {"accuracy": {"goal": "maximize", "threshold": 0.9}}})";
  document::Mistakes mistakes;
  auto spec = tune::read_study_spec(*document::parse(text, "study.json"), mistakes);
  spec->name = name;
  return *std::move(spec);
}

// Studies of this test have only values that somebody names.
class NoSuggestions : public tune::TrialSampler {
 public:
  std::string_view name() const override { return "none"; }
  Result<tune::Suggestion> suggest(const tune::History&, std::int64_t) override {
    return Status(Code::kResourceExhausted, "none");
  }
};

class StudyRoutesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_.path() / "runs");
    shelf_ = *views::Shelf::open(folder_.path() / "runs");
    const fs::path catalogue = folder_.path() / "catalogue";
    JobActions actions;
    actions.settling = [] { return [](jobs::JobRecord& job) { return job.current(); }; };
    desk_ = std::make_unique<WorkDesk>(
        WorkPlaces{folder_.path() / "jobs", catalogue, folder_.path() / "experiments", catalogue, studies()},
        std::move(actions));
    router_ = std::make_unique<answers::Router>(study_routes(*desk_));
  }

  fs::path studies() const { return folder_.path() / "studies"; }

  Study make(const std::string& name) const {
    fs::create_directories(studies());
    return *Study::create(studies(), spec_named(name), system_clock());
  }

  static void add(Study& study, double accuracy) {
    tune::TrialEnd end;
    end.metrics = {{"accuracy", accuracy}};
    ASSERT_TRUE(study.add_finished({{"lr", 0.1}, {"optimizer", std::string("adam")}}, end).ok());
  }

  static void start(Study& study, const std::string& job) {
    NoSuggestions sampler;
    ASSERT_TRUE(study.enqueue({{"lr", 0.1}, {"optimizer", std::string("sgd")}}).ok());
    tune::AskOptions options;
    if (!job.empty()) options.job_of = [&](std::int64_t, int) { return job; };
    ASSERT_TRUE(study.ask(sampler, options).ok());
  }

  void submit(const std::string& name) const {
    jobs::JobOrder order;
    order.name = name;
    order.submitted_unix_ns = system_clock().unix_ns();
    order.program = {"true"};
    order.folder = folder_.path();
    order.run = folder_.path() / "runs" / name;
    ASSERT_TRUE(jobs::JobRecord::create(folder_.path() / "jobs", order).ok());
  }

  Result<Json> ask(const std::string& address) const {
    const std::size_t mark = std::min(address.find('?'), address.size());
    auto match = router_->match(answers::Method::kGet, address.substr(0, mark),
                                mark < address.size() ? address.substr(mark + 1) : "");
    if (!match.ok()) return match.status();
    const auto reply = match->route->handler(match->request, answers::Services{*shelf_});
    if (!reply.ok()) return reply.status();
    return Json::parse(*reply->body);
  }

  const TestFolder folder_;
  std::unique_ptr<views::Shelf> shelf_;
  std::unique_ptr<WorkDesk> desk_;
  std::unique_ptr<answers::Router> router_;
};

TEST_F(StudyRoutesTest, NothingIsThereAtFirst) {
  EXPECT_EQ(ask("/studies")->at("studies").size(), 0U);
  EXPECT_EQ(ask("/studies/mine").status().code(), Code::kNotFound);
}

TEST_F(StudyRoutesTest, AStudyIsListedWithItsOutcomeAndAnsweredWithItsTrials) {
  Study study = make("mine");
  add(study, 0.8);
  const Json row = ask("/studies")->at("studies").at(0);
  EXPECT_EQ(row.at("study"), "mine");
  EXPECT_EQ(row.at("counts").at("complete"), 1);
  EXPECT_FALSE(row.at("outcome").at("is_met"));
  const Json answer = *ask("/studies/mine");
  EXPECT_EQ(answer.at("outcome").at("sentence"), row.at("outcome").at("sentence"));
  EXPECT_EQ(answer.at("spec").at("metrics").at("accuracy").at("threshold"), 0.9);
  EXPECT_EQ(answer.at("trials").at(0).at("values").at("optimizer"), "adam");
  EXPECT_EQ(answer.at("trials").at(0).at("run"), nullptr);
  EXPECT_FALSE(answer.at("cut"));
}

TEST_F(StudyRoutesTest, WhatTrialsHaveAskedForIsPartOfWhatIsSearched) {
  fs::create_directories(studies());
  tune::StudySpec spec = spec_named("grows");
  spec.open = true;
  Study study = *Study::create(studies(), std::move(spec), system_clock());
  start(study, "");
  ASSERT_TRUE(study.extend(0, {{.name = "depth", .kind = tune::ParameterKind::kInteger, .min = 2, .max = 9}}).ok());
  EXPECT_EQ(ask("/studies/grows")->at("spec").at("parameters").at("depth").at("max"), 9);
}

TEST_F(StudyRoutesTest, WhatIsNewIsReadByTheNextQuestion) {
  Study study = make("mine");
  add(study, 0.8);
  EXPECT_EQ(ask("/studies/mine")->at("count"), 1);
  add(study, 0.95);
  const Json answer = *ask("/studies/mine");
  EXPECT_EQ(answer.at("count"), 2);
  EXPECT_TRUE(answer.at("outcome").at("is_met"));
}

TEST_F(StudyRoutesTest, AStudyThatWasMadeAnewUnderItsNameIsTheNewOne) {
  Study study = make("mine");
  add(study, 0.8);
  EXPECT_EQ(ask("/studies/mine")->at("count"), 1);
  fs::remove_all(studies() / "mine");
  EXPECT_EQ(ask("/studies/mine").status().code(), Code::kNotFound);
  make("mine");
  EXPECT_EQ(ask("/studies/mine")->at("count"), 0);
}

TEST_F(StudyRoutesTest, ADamagedStudyIsARowWithTheReason) {
  make("good");
  fs::create_directories(studies() / "bad");
  std::ofstream(studies() / "bad/study.json") << "{";
  const Json rows = ask("/studies")->at("studies");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NE(rows.at(0).at("error").get<std::string>().find("damaged"), std::string::npos);
  EXPECT_FALSE(rows.at(1).contains("error"));
  EXPECT_EQ(ask("/studies/bad").status().code(), Code::kDataLoss);
}

TEST_F(StudyRoutesTest, StudiesThatAreForgottenAreReadAgain) {
  for (const std::string name : {"a", "b"}) {
    Study study = make(name);
    add(study, 0.8);
  }
  OpenStudies few(studies(), 2);
  for (int i = 0; i < 3; ++i) {
    for (const std::string name : {"a", "b"}) {
      std::size_t trials = 0;
      const auto count = [&](const Study& study) { trials = study.state().history().trials.size(); };
      ASSERT_TRUE(few.with(name, count).ok());
      EXPECT_EQ(trials, 1U);
    }
  }
}

TEST_F(StudyRoutesTest, SeriesAreThinnedToTheirFirstAndTheirLastStep) {
  Study study = make("mine");
  start(study, "");
  std::vector<tune::StepReport> steps;
  for (std::int64_t step = 0; step < 1000; ++step) steps.push_back({step, {{"accuracy", 0.5}}});
  ASSERT_TRUE(study.report(0, steps).ok());
  const Json series = ask("/studies/mine")->at("trials").at(0).at("series").at("accuracy");
  EXPECT_LE(series.size(), kMostTrialSteps + 1);
  EXPECT_EQ(series.front().at("step"), 0);
  EXPECT_EQ(series.back().at("step"), 999);
}

TEST_F(StudyRoutesTest, ATrialLeadsToTheRunOfItsJobWhereThatIsThere) {
  Study study = make("mine");
  start(study, "mine-0");
  EXPECT_EQ(ask("/studies/mine")->at("trials").at(0).at("run"), nullptr);
  submit("mine-0");
  desk_->forget_jobs();
  const Json trial = ask("/studies/mine")->at("trials").at(0);
  EXPECT_EQ(trial.at("job"), "mine-0");
  EXPECT_EQ(trial.at("run").at("id"), views::run_id_of("mine-0"));
}

TEST_F(StudyRoutesTest, TrialsArePaged) {
  Study study = make("mine");
  for (int i = 0; i < 3; ++i) add(study, 0.1 * i);
  const Json page = *ask("/studies/mine?from=2");
  EXPECT_EQ(page.at("from"), 2);
  EXPECT_EQ(page.at("count"), 3);
  EXPECT_EQ(page.at("trials").size(), 1U);
  EXPECT_EQ(page.at("trials").at(0).at("number"), 2);
  EXPECT_TRUE(page.at("cut"));
  EXPECT_EQ(ask("/studies/mine?from=99")->at("trials").size(), 0U);
}

TEST_F(StudyRoutesTest, WhatMatteredIsAnsweredForAMetricThatCounts) {
  Study study = make("mine");
  add(study, 0.5);
  const Json few = *ask("/studies/mine/importance");
  EXPECT_EQ(few.at("metric"), "accuracy");
  EXPECT_EQ(few.at("trials"), 1);
  EXPECT_EQ(few.at("fanova"), nullptr);
  EXPECT_EQ(few.at("ped_anova").size(), 0U);
  EXPECT_NE(few.at("note").get<std::string>().find("20 complete trials"), std::string::npos);
  for (int i = 0; i < 60; ++i) {
    const double place = i % 20 / 19.0;
    tune::TrialEnd end;
    end.metrics = {{"accuracy", place}};
    const tune::TriedValues values = {{"lr", std::pow(10, 3 * place - 3)}, {"optimizer", i % 2 == 0 ? "adam" : "sgd"}};
    ASSERT_TRUE(study.add_finished(values, end).ok());
  }
  const Json answer = *ask("/studies/mine/importance?metric=accuracy");
  EXPECT_EQ(answer.at("study"), "mine");
  EXPECT_EQ(answer.at("trials"), 61);
  EXPECT_EQ(answer.at("left_out"), 0);
  EXPECT_EQ(answer.at("ped_anova").at(0).at("parameter"), "lr");
  const Json& forest = answer.at("fanova");
  EXPECT_TRUE(forest.at("trusted"));
  EXPECT_EQ(forest.at("single").at(0).at("parameter"), "lr");
  const double share = forest.at("single").at(0).at("importance");
  EXPECT_GT(share, 0.8);
  EXPECT_LE(forest.at("single").at(0).at("low"), share);
  EXPECT_GE(forest.at("single").at(0).at("high"), share);
  EXPECT_EQ(forest.at("pairs").at(0).at("parameters").size(), 2U);
  EXPECT_EQ(ask("/studies/mine/importance?metric=loss").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/studies/mine/importance?of=loss").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/studies/other/importance").status().code(), Code::kNotFound);
}

TEST_F(StudyRoutesTest, NamesThatAreNoneAndUnknownWordsAreRefused) {
  make("mine");
  std::ofstream(folder_.path() / "study.json") << "{}";
  for (const std::string name : {"..", "..%2F..", "%2Fetc", "mine%2F..%2Fmine", "."}) {
    EXPECT_EQ(ask("/studies/" + name).status().code(), Code::kNotFound) << name;
  }
  EXPECT_EQ(ask("/studies/mine?from=-2").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/studies/mine?first=2").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/studies?from=2").status().code(), Code::kInvalidArgument);
}

TEST_F(StudyRoutesTest, SecretsAreMasked) {
  const char* const text = R"({
    "parameters": {"api_key": {"choices": ["hunter2hunter2", "swordfish99"], "first": "swordfish99"}},
    "metrics": {"accuracy": {"goal": "maximize"}}})";
  document::Mistakes mistakes;
  auto spec = tune::read_study_spec(*document::parse(text, "study.json"), mistakes);
  spec->name = "keys";
  fs::create_directories(studies());
  Study study = *Study::create(studies(), *std::move(spec), system_clock());
  ASSERT_TRUE(study.enqueue({{"api_key", std::string("swordfish99")}}).ok());
  ASSERT_TRUE(
      study.finish(0, {.state = tune::TrialState::kFailed, .metrics = {}, .why = "password=swordfish99", .seconds = {}})
          .ok());
  const Json answer = Json::parse(study_page_json(
                                      study, 0, [](const std::string&) { return nullptr; }, 0)
                                      .dump());
  EXPECT_EQ(answer.dump().find("swordfish99"), std::string::npos) << answer.dump();
  EXPECT_EQ(answer.dump().find("hunter2"), std::string::npos);
  EXPECT_EQ(answer.at("trials").at(0).at("values").at("api_key"), "****");
  EXPECT_EQ(answer.at("trials").at(0).at("why"), "password=****");
}

}  // namespace
}  // namespace trainwarden::work_answers
