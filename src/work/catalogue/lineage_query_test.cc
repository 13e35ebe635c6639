#include "work/catalogue/lineage_query.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "work/catalogue/catalogue.h"
#include "work/experiments/lineage.h"

namespace trainwarden::catalogue {
namespace {

using experiments::ComponentRecord;

// raw -> prepare -> data -> train-1, train-2 -> models; model-1 -> evaluate
class LineageQueryTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(store_.create_experiment({"digits", "", "", 1, {}}).ok());
    ASSERT_TRUE(store_.ensure_trial({"t", "digits", "", 1}).ok());
    add("prepare", {{"raw", "s3://b/raw", ""}}, {{"train", "/a/data", "sha256:da"}});
    add("train-1", {{"train", "/a/data", "sha256:da"}}, {{"model", "/m/1", "sha256:m1"}});
    add("train-2", {{"train", "/copy/of/data", "sha256:da"}}, {{"model", "/m/2", "sha256:m2"}});
    add("evaluate", {{"model", "/m/1", "sha256:m1"}}, {});
  }

  struct Use {
    std::string name;
    std::string uri;
    std::string hash;
  };
  void add(const std::string& name, const std::vector<Use>& inputs, const std::vector<Use>& outputs) {
    ComponentRecord record;
    record.unix_ns = 1;
    record.status = "Completed";
    record.trials = {"t"};
    for (const Use& use : inputs) record.inputs[use.name] = {.uri = use.uri, .type = "DataSet", .hash = use.hash};
    for (const Use& use : outputs) record.outputs[use.name] = {.uri = use.uri, .type = "Model", .hash = use.hash};
    ASSERT_TRUE(store_.add_record(name, record).ok());
  }

  // "NODE@DISTANCE ..." in their order.
  std::string found(const std::string& start, LineageDirection direction, int depth = kMaxLineageDepth) {
    auto catalogue = Catalogue::open(folder_.path() / "catalogue");
    const auto lineage = catalogue->lineage(store_, start, direction, depth);
    if (!lineage.ok()) return lineage.status().to_string();
    std::string all;
    for (const LineageVertex& vertex : lineage->vertices) all += fmt::format("{}@{} ", vertex.name, vertex.distance);
    return all;
  }

  TestFolder folder_;
  experiments::ExperimentStore store_{storage::Location(folder_.path() / "experiments")};
};

TEST_F(LineageQueryTest, GoesUpAndDown) {
  EXPECT_EQ(found("component:train-1", LineageDirection::kAscendants),
            "train-1@0 /a/data@-1 prepare@-2 s3://b/raw@-3 ");
  EXPECT_EQ(found("component:train-1", LineageDirection::kDescendants), "train-1@0 /m/1@1 t@1 evaluate@2 ");
  EXPECT_EQ(found("component:train-1", LineageDirection::kBoth),
            "train-1@0 /a/data@-1 /m/1@1 t@1 prepare@-2 evaluate@2 s3://b/raw@-3 ");
  EXPECT_EQ(found("component:train-1", LineageDirection::kBoth, 1), "train-1@0 /a/data@-1 /m/1@1 t@1 ");
}

TEST_F(LineageQueryTest, TheSameContentInTwoPlacesIsOneThing) {
  EXPECT_EQ(found("artifact:sha256:da", LineageDirection::kDescendants, 1), "/a/data@0 train-1@1 train-2@1 ");
  EXPECT_EQ(found("artifact:sha256:m2", LineageDirection::kAscendants, 3), "/m/2@0 train-2@-1 /a/data@-2 prepare@-3 ");
}

TEST_F(LineageQueryTest, AssociationsOfUsersCount) {
  ASSERT_TRUE(
      experiments::add_association(store_, {"artifact:sha256:m1", "artifact:sha256:m2", "DerivedFrom", 1}).ok());
  EXPECT_EQ(found("artifact:sha256:m1", LineageDirection::kDescendants, 1), "/m/1@0 /m/2@1 evaluate@1 ");
}

TEST_F(LineageQueryTest, CirclesEnd) {
  ASSERT_TRUE(experiments::add_association(store_, {"artifact:sha256:m1", "artifact:sha256:m2", "SameAs", 1}).ok());
  ASSERT_TRUE(experiments::add_association(store_, {"artifact:sha256:m2", "artifact:sha256:m1", "SameAs", 1}).ok());
  ASSERT_TRUE(
      experiments::add_association(store_, {"component:evaluate", "component:evaluate", "AssociatedWith", 1}).ok());
  EXPECT_EQ(found("artifact:sha256:m1", LineageDirection::kDescendants), "/m/1@0 /m/2@1 evaluate@1 t@2 ");
}

TEST_F(LineageQueryTest, WhatIsHugeIsCutAndSaysSo) {
  for (int i = 0; i < 90; ++i) {
    ComponentRecord record;
    record.unix_ns = 1;
    record.inputs["train"] = {.uri = "/a/data", .hash = "sha256:da"};
    for (int k = 0; k < 60; ++k) record.outputs[fmt::format("o{}", k)] = {.uri = fmt::format("/o/{}/{}", i, k)};
    ASSERT_TRUE(store_.add_record(fmt::format("wide-{}", i), record).ok());
  }
  auto catalogue = Catalogue::open(folder_.path() / "catalogue");
  const auto lineage = catalogue->lineage(store_, "artifact:sha256:da", LineageDirection::kDescendants, 10);
  ASSERT_TRUE(lineage.ok());
  EXPECT_TRUE(lineage->cut);
  EXPECT_EQ(lineage->vertices.size(), kMaxLineageVertices);
}

TEST_F(LineageQueryTest, NothingIsSaidOfWhatIsNotKnown) {
  EXPECT_EQ(found("component:nobody", LineageDirection::kBoth), "not found: nothing is known of component:nobody");
  EXPECT_EQ(found("x' OR 1", LineageDirection::kBoth), "not found: nothing is known of x' OR 1");
  auto catalogue = Catalogue::open(folder_.path() / "catalogue");
  EXPECT_EQ(catalogue->artifacts_like(store_, "artifact:sha256:m")->size(), 2u);
  EXPECT_EQ(*catalogue->artifacts_like(store_, "artifact:sha256:d"), std::vector<std::string>{"artifact:sha256:da"});
  EXPECT_TRUE(catalogue->artifacts_like(store_, "artifact:%")->empty());
}

}  // namespace
}  // namespace trainwarden::catalogue
