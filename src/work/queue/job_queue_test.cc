#include "work/queue/job_queue.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/folder_testing.h"

namespace trainwarden::queue {
namespace {

class JobQueueTest : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(folder_.path() / ".queue" / "here");
    std::ofstream(folder_.path() / ".queue" / "here" / file) << text;
  }

  TestFolder folder_;
  JobQueue queue_{folder_.path(), "here"};
};

TEST_F(JobQueueTest, JobsComeAndGo) {
  EXPECT_TRUE(queue_.names()->empty());
  ASSERT_TRUE(queue_.enter("b").ok() && queue_.enter("a").ok() && queue_.enter("a").ok());
  EXPECT_EQ(*queue_.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_GT(queue_.entered_unix_ns("a").value_or(0), 0);
  ASSERT_TRUE(queue_.leave("a").ok() && queue_.leave("a").ok());
  EXPECT_EQ(*queue_.names(), std::vector<std::string>{"b"});
  EXPECT_FALSE(queue_.entered_unix_ns("a").has_value());
  EXPECT_FALSE(queue_.leave("../../x").ok());
  EXPECT_TRUE(JobQueue(folder_.path(), "there").names()->empty()) << "each machine has its own";
}

TEST_F(JobQueueTest, WhatIsNoJobsNameIsPassedOver) {
  ASSERT_TRUE(queue_.enter("a").ok());
  write("jobs/.hidden", "");
  write("jobs/a..b", "");
  EXPECT_EQ(*queue_.names(), std::vector<std::string>{"a"});
}

TEST_F(JobQueueTest, LimitsMakeTheMachineSmaller) {
  EXPECT_EQ(*queue_.limits(), QueueLimits());
  const QueueLimits limits = {.cpus = 2, .gpus = 0, .memory_bytes = 100};
  ASSERT_TRUE(queue_.set_limits(limits).ok());
  EXPECT_EQ(*queue_.limits(), limits);
  const Capacity machine = {{4, 5, 6}, {0, 1}, 1000};
  EXPECT_EQ(limited(machine, limits), (Capacity{{4, 5}, {}, 100}));
  EXPECT_EQ(limited(machine, {}), machine);
  EXPECT_EQ(limited(machine, {.cpus = 99}), machine);
  write("limits.json", "{\"cpus\": -1}");
  EXPECT_EQ(queue_.limits().status().code(), Code::kDataLoss);
}

TEST_F(JobQueueTest, ReasonsAreReadAsTheyWereWritten) {
  EXPECT_TRUE(queue_.reasons().empty());
  ASSERT_TRUE(queue_.enter("a").ok() && queue_.set_reasons({{"a", "waits for 2 processors"}}).ok());
  EXPECT_EQ(queue_.reasons().at("a"), "waits for 2 processors");
  write("waiting.json", "[]");
  EXPECT_TRUE(queue_.reasons().empty());
}

TEST_F(JobQueueTest, OneKeepsIt) {
  EXPECT_FALSE(queue_.has_keeper(system_clock()));
  const auto lease = queue_.take_keeper_lease(system_clock());
  ASSERT_TRUE(lease.ok()) << lease.status().to_string();
  EXPECT_TRUE(queue_.has_keeper(system_clock()));
  EXPECT_EQ(queue_.take_keeper_lease(system_clock()).status().code(), Code::kAlreadyExists);
}

TEST(ThisHost, HasANameThatIsAFolders) {
  EXPECT_FALSE(this_host().empty());
  EXPECT_EQ(this_host().find('/'), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::queue
