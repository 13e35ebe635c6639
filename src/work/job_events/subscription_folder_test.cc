#include "work/job_events/subscription_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/folder_testing.h"
#include "react/actions/action_kind.h"
#include "work/job_events/standing_wiring.h"
#include "work/jobs/owner_seal.h"

namespace trainwarden::job_events {
namespace {

namespace fs = std::filesystem;

StandingSubscription sample(const std::string& name = "ops") {
  return {name, R"({"type": [{"prefix": "io"}]})", "file:path=/tmp/events.jsonl", 12};
}

class SubscriptionFolderTest : public testing::Test {
 protected:
  Status subscribe(const StandingSubscription& standing) {
    const auto kinds = kinds_for_jobs(actions::local_action_kinds(), folder_.path());
    return subscribe_standing(standing, kinds, subscriptions_).status();
  }
  Status add_action(const std::string& action) { return subscribe({"ops", "", action, 1}); }

  TestFolder folder_;
  SubscriptionFolder subscriptions_{folder_.path()};
};

TEST_F(SubscriptionFolderTest, KeepsWhatWasAdded) {
  EXPECT_FALSE(subscriptions_.any());
  ASSERT_TRUE(subscriptions_.add(sample()).ok());
  EXPECT_TRUE(subscriptions_.any());
  EXPECT_EQ(*subscriptions_.names(), std::vector<std::string>{"ops"});
  EXPECT_EQ(*subscriptions_.read("ops"), sample());
  const auto mode = fs::status(subscriptions_.file_of("ops")).permissions();
  EXPECT_EQ(mode & fs::perms::all, fs::perms::owner_read | fs::perms::owner_write) << "an action may have a secret";
  ASSERT_TRUE(subscriptions_.remove("ops").ok());
  EXPECT_FALSE(subscriptions_.any());
}

TEST_F(SubscriptionFolderTest, ANameIsTakenOnce) {
  ASSERT_TRUE(subscriptions_.add(sample()).ok());
  StandingSubscription other = sample();
  other.action = "stop";
  EXPECT_EQ(subscriptions_.add(other).code(), Code::kAlreadyExists);
  EXPECT_EQ(*subscriptions_.read("ops"), sample());
}

TEST_F(SubscriptionFolderTest, SaysWhichNamesThereAre) {
  ASSERT_TRUE(subscriptions_.add(sample()).ok());
  EXPECT_NE(subscriptions_.remove("opps").message().find("ops"), std::string::npos);
  EXPECT_EQ(subscriptions_.read("../ops").status().code(), Code::kNotFound);
  for (const std::string name : {"", "a b", "../up", ".hidden"}) {
    StandingSubscription bad = sample(name);
    EXPECT_EQ(subscriptions_.add(bad).code(), Code::kInvalidArgument) << name;
  }
}

TEST_F(SubscriptionFolderTest, ASignatureChangesWithWhatIsThere) {
  const std::string empty = subscriptions_.signature();
  ASSERT_TRUE(subscriptions_.add(sample()).ok());
  const std::string one = subscriptions_.signature();
  EXPECT_NE(one, empty);
  EXPECT_EQ(subscriptions_.signature(), one);
  ASSERT_TRUE(subscriptions_.remove("ops").ok());
  ASSERT_TRUE(subscriptions_.add(sample()).ok());
  EXPECT_NE(subscriptions_.signature(), one) << "the same name, made again";
}

TEST_F(SubscriptionFolderTest, DamagedFilesAreToldAndLinksAreNotFollowed) {
  ASSERT_TRUE(subscriptions_.add(sample()).ok());
  std::ofstream(subscriptions_.file_of("broken")) << "{\n" << *jobs::owner_seal("{", folder_.path()) << "\n";
  EXPECT_EQ(subscriptions_.read("broken").status().code(), Code::kDataLoss);
  std::ofstream(folder_.path() / "outside.json") << encode_subscription(sample("planted"));
  fs::create_symlink(folder_.path() / "outside.json", subscriptions_.file_of("planted"));
  EXPECT_FALSE(subscriptions_.read("planted").ok());
}

TEST_F(SubscriptionFolderTest, WhatThisUserHasNotAddedHereIsNotTaken) {
  ASSERT_TRUE(subscriptions_.add(sample()).ok());
  const fs::path elsewhere = folder_.path() / "elsewhere";
  fs::create_directories(elsewhere);
  fs::copy(subscriptions_.file_of("ops").parent_path(), elsewhere / ".subscriptions");
  EXPECT_EQ(SubscriptionFolder(elsewhere).read("ops").status().code(), Code::kPermissionDenied);
  std::ofstream(subscriptions_.file_of("planted")) << encode_subscription(sample("planted"));
  EXPECT_EQ(subscriptions_.read("planted").status().code(), Code::kPermissionDenied);
  std::ofstream(subscriptions_.file_of("empty")).close();
  EXPECT_EQ(subscriptions_.read("empty").status().code(), Code::kPermissionDenied);
  EXPECT_TRUE(subscriptions_.read("ops").ok());
}

TEST_F(SubscriptionFolderTest, ThereIsALimit) {
  for (std::size_t i = 0; i < delivery::kMaxSubscriptions; ++i) {
    ASSERT_TRUE(subscriptions_.add(sample(fmt::format("s{}", i))).ok());
  }
  EXPECT_EQ(subscriptions_.add(sample("more")).code(), Code::kResourceExhausted);
}

TEST_F(SubscriptionFolderTest, WhatCannotBeDeliveredToIsRefused) {
  EXPECT_TRUE(subscribe(sample()).ok());
  EXPECT_TRUE(add_action("stop").ok());
  EXPECT_EQ(add_action("stopp").code(), Code::kInvalidArgument);
  EXPECT_EQ(add_action("save").code(), Code::kInvalidArgument) << "it needs a run";
  EXPECT_EQ(add_action("skip-step").code(), Code::kInvalidArgument);
  EXPECT_EQ(add_action("file:path=/tmp/x,colour=red").code(), Code::kInvalidArgument);
  EXPECT_NE(add_action("exec:command=env:HANDLER").message().find("file:PATH"), std::string::npos);
  StandingSubscription twice = sample();
  twice.action = "file:path=/tmp/x,rule=VanishingGradient";
  EXPECT_EQ(subscribe(twice).code(), Code::kInvalidArgument);
  StandingSubscription bad_pattern = sample();
  bad_pattern.pattern = R"({"type": "no list"})";
  EXPECT_EQ(subscribe(bad_pattern).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::job_events
