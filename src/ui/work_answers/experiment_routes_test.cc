// What the addresses of experiments and lineage answer.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "data/format/json.h"
#include "ui/answers/router.h"
#include "ui/work_answers/work_desk.h"
#include "work/experiments/experiment_store.h"

namespace trainwarden::work_answers {
namespace {

namespace fs = std::filesystem;
using experiments::ComponentRecord;
using format::Json;

class ExperimentRoutesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_.path() / "runs");
    shelf_ = *views::Shelf::open(folder_.path() / "runs");
    const fs::path experiments = folder_.path() / "experiments";
    desk_ = std::make_unique<WorkDesk>(WorkPlaces{folder_.path() / "jobs", folder_.path() / "catalogue", experiments,
                                                  folder_.path() / "catalogue", folder_.path() / "studies"},
                                       JobActions());
    router_ = std::make_unique<answers::Router>(experiment_routes(*desk_));
    store_.emplace(storage::Location(experiments));
  }

  // prepare -> train data -> the job bert-7 -> a model.
  void log_an_experiment() {
    ASSERT_TRUE(store_->create_experiment({"digits", "", "Which optimizer?", 1'700'000'000'000'000'000, {}}).ok());
    ASSERT_TRUE(store_->ensure_trial({"cnn", "digits", "", 1}).ok());
    ComponentRecord prepare;
    prepare.outputs["train"] = {"data/train", "", "DataSet", "sha256:" + std::string(64, 'a'), 10, ""};
    prepare.trials = {"cnn"};
    ASSERT_TRUE(store_->create_component("prepare-1", prepare).ok());
    ComponentRecord train;
    train.status = "Completed";
    train.trials = {"cnn"};
    train.parameters = {{"lr", 0.5}, {"optimizer", std::string("adam")}, {"api_key", std::string("s3cret-value")}};
    for (const double loss : {3.0, 1.0}) train.metrics["loss"].add(loss, 5);
    train.inputs["train"] = prepare.outputs["train"];
    train.outputs["model"] = {"s3://bucket/model.tar.gz", "", "Model", "sha256:" + std::string(64, 'b'), 20, ""};
    ASSERT_TRUE(store_->create_component("bert-7-aws-training-job", train).ok());
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
  std::optional<experiments::ExperimentStore> store_;
};

TEST_F(ExperimentRoutesTest, NothingIsThereAtFirst) {
  EXPECT_EQ(ask("/experiments")->at("experiments").size(), 0U);
  EXPECT_EQ(ask("/experiments/digits").status().code(), Code::kNotFound);
  EXPECT_EQ(ask("/lineage?of=bert-7").status().code(), Code::kNotFound);
}

TEST_F(ExperimentRoutesTest, AnExperimentHasItsComponentsWithParametersAndMetrics) {
  log_an_experiment();
  const Json listed = ask("/experiments")->at("experiments").at(0);
  EXPECT_EQ(listed.at("name"), "digits");
  EXPECT_EQ(listed.at("components"), 2);
  const Json experiment = *ask("/experiments/digits");
  EXPECT_EQ(experiment.at("description"), "Which optimizer?");
  ASSERT_EQ(experiment.at("components").size(), 2U);
  const Json& first = experiment.at("components").at(0);
  const Json& train = first.at("name") == "prepare-1" ? experiment.at("components").at(1) : first;
  EXPECT_EQ(train.at("parameters").at("lr"), 0.5);
  EXPECT_EQ(train.at("parameters").at("api_key"), "****");
  EXPECT_EQ(train.at("metrics").at("loss").at("last"), 1.0);
  EXPECT_EQ(train.at("metrics").at("loss").at("max"), 3.0);
  EXPECT_EQ(train.at("metrics").at("loss").at("count"), 2);
  EXPECT_EQ(train.at("trials"), Json({"cnn"}));
  EXPECT_EQ(train.at("job"), nullptr) << "there is no such job";
}

TEST_F(ExperimentRoutesTest, LineageIsFoundByAnyNameAndNamesTheJobThatIsThere) {
  log_an_experiment();
  fs::create_directories(folder_.path() / "jobs/bert-7");
  std::ofstream(folder_.path() / "jobs/bert-7/job.json") << "{}";
  const std::string model = "artifact:sha256:" + std::string(64, 'b');
  for (const std::string of : {"bert-7", "bert-7-aws-training-job", "component%3Abert-7-aws-training-job"}) {
    const auto lineage = ask("/lineage?of=" + of);
    ASSERT_TRUE(lineage.ok()) << of << ": " << lineage.status().to_string();
    EXPECT_EQ(lineage->at("start"), "component:bert-7-aws-training-job");
    EXPECT_EQ(lineage->at("vertices").at(0).at("job"), "bert-7");
  }
  const Json back = *ask("/lineage?of=sha256:bbbb&direction=ascendants");
  EXPECT_EQ(back.at("start"), model);
  std::vector<std::string> names;
  for (const Json& vertex : back.at("vertices")) names.push_back(vertex.at("name"));
  EXPECT_NE(std::find(names.begin(), names.end(), "prepare-1"), names.end());
  EXPECT_EQ(back.at("table").at("columns").at(0), "Name/Source");
  EXPECT_EQ(back.at("table").at("rows").at(0),
            Json({"bert-7-aws-training-job", "Input", "", "Produced", "trial-component"}));
}

TEST_F(ExperimentRoutesTest, WhatIsNotUnderstoodIsSaid) {
  log_an_experiment();
  EXPECT_EQ(ask("/lineage").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/lineage?of=bert-7&direction=up").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/lineage?of=bert-7&depth=99").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ask("/lineage?of=..%2F..%2Fetc%2Fpasswd").status().code(), Code::kNotFound);
  EXPECT_EQ(ask("/experiments/..%2F..%2Fetc").status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::work_answers
