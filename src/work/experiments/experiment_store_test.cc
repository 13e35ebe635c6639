#include "work/experiments/experiment_store.h"

#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden::experiments {
namespace {

class ExperimentStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(store_.create_experiment({"digits", "Digits", "", 1, {}}).ok());
    ASSERT_TRUE(store_.ensure_trial({"t", "digits", "", 2}).ok());
  }
  static ComponentRecord said(std::int64_t time, double lr) {
    ComponentRecord record;
    record.unix_ns = time;
    record.parameters = {{"lr", lr}};
    record.metrics["loss"].add(lr, time);
    return record;
  }
  std::filesystem::path component_folder(const std::string& name) const {
    return folder_.path() / "experiments" / "components" / name;
  }

  TestFolder folder_;
  ExperimentStore store_{storage::Location(folder_.path() / "experiments")};
};

TEST_F(ExperimentStoreTest, ExperimentsAndTrialsAreMadeOnce) {
  EXPECT_EQ(store_.create_experiment({"digits", "", "", 9, {}}).code(), Code::kAlreadyExists);
  EXPECT_EQ(store_.read_experiment("digits")->display_name, "Digits");
  EXPECT_TRUE(store_.ensure_trial({"t", "digits", "", 9}).ok());
  EXPECT_EQ(store_.read_trial("t")->created_unix_ns, 2);
  ASSERT_TRUE(store_.create_experiment({"other", "", "", 1, {}}).ok());
  EXPECT_EQ(store_.ensure_trial({"t", "other", "", 9}).code(), Code::kFailedPrecondition);
  const Status missing = store_.ensure_trial({"u", "digit", "", 9});
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_NE(missing.message().find("did you mean \"digits\"?"), std::string::npos) << missing.message();
  EXPECT_EQ(store_.create_experiment({"../x", "", "", 1, {}}).code(), Code::kInvalidArgument);
  EXPECT_EQ(store_.create_experiment({"long", "", std::string(3073, 'x'), 1, {}}).code(), Code::kInvalidArgument);
}

TEST_F(ExperimentStoreTest, AComponentIsAllThatWasSaidOfIt) {
  ASSERT_TRUE(store_.add_record("c", said(20, 0.2)).ok());
  ASSERT_TRUE(store_.add_record("c", said(10, 0.1)).ok()) << "earlier, but written later";
  const auto component = store_.read_component("c");
  ASSERT_TRUE(component.ok()) << component.status().to_string();
  EXPECT_EQ(std::get<double>(component->now.parameters.at("lr")), 0.2);
  EXPECT_EQ(component->now.metrics.at("loss").count, 2u);
  EXPECT_EQ(component->created_unix_ns, 10);
  EXPECT_EQ(store_.create_component("c", said(1, 1)).code(), Code::kAlreadyExists);
  EXPECT_TRUE(store_.add_record_once("c", "end.json", said(30, 0.3)).ok());
  EXPECT_EQ(store_.add_record_once("c", "end.json", said(31, 0.4)).code(), Code::kAlreadyExists);
  EXPECT_EQ(std::get<double>(store_.read_component("c")->now.parameters.at("lr")), 0.3);
}

TEST_F(ExperimentStoreTest, WhatIsTooMuchTogetherIsRefused) {
  ComponentRecord many;
  many.unix_ns = 1;
  for (std::size_t i = 0; i < kMaxParameters; ++i) many.parameters["p" + std::to_string(i)] = 1.0;
  ASSERT_TRUE(store_.add_record("c", many).ok());
  const Status refused = store_.add_record("c", said(2, 0.1));
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_NE(refused.message().find("301 parameters"), std::string::npos) << refused.message();
}

TEST_F(ExperimentStoreTest, TrialsMustBeThere) {
  ComponentRecord record = said(1, 0.1);
  record.trials = {"t"};
  EXPECT_TRUE(store_.add_record("c", record).ok());
  record.trials = {"nowhere"};
  EXPECT_EQ(store_.add_record("d", record).code(), Code::kNotFound);
  EXPECT_EQ(store_.read_component("d").status().code(), Code::kNotFound);
}

// Other files, links and damage in a component's folder: what can be read is read, and the rest is said.
TEST_F(ExperimentStoreTest, CraftedFoldersLoseNothingElse) {
  ASSERT_TRUE(store_.add_record("c", said(1, 0.1)).ok());
  std::ofstream(component_folder("c") / "damaged.json") << "{";
  std::ofstream(component_folder("c") / "note.txt") << "not a record";
  std::filesystem::create_symlink("/etc/passwd", component_folder("c") / "link.json");
  std::filesystem::create_directory(component_folder("c") / "folder.json");
  std::ofstream(component_folder("c") / "large.json") << std::string(5 << 20, 'x');
  const auto component = store_.read_component("c");
  ASSERT_TRUE(component.ok());
  EXPECT_EQ(component->now.parameters.size(), 1u);
  EXPECT_EQ(component->unread.size(), 3u) << "damaged.json, folder.json and large.json";
  for (int i = 0; i < 1100; ++i) std::ofstream(component_folder("c") / ("r" + std::to_string(i) + ".json")) << "{}";
  EXPECT_EQ(store_.read_component("c")->unread.size(), kMaxRecords)
      << "it reads a thousand and says that there are more";
}

}  // namespace
}  // namespace trainwarden::experiments
