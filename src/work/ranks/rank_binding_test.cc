#include "work/ranks/rank_binding.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/folder_testing.h"
#include "work/jobs/cpu_topology.h"

namespace trainwarden::ranks {
namespace {

class RankBindingTest : public testing::Test {
 protected:
  void SetUp() override {
    jobs::JobOrder order;
    order.name = "bound";
    order.run = "runs/bound";
    order.program = {"true"};
    order.ranks = 3;
    auto job = jobs::JobRecord::create(storage::Location(folder_.path() / "jobs"), order);
    ASSERT_TRUE(job.ok()) << job.status().to_string();
    job_.emplace(*std::move(job));
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / "jobs/bound/attempts/1/bound" / name) << text;
  }

  TestFolder folder_;
  std::optional<jobs::JobRecord> job_;
};

TEST_F(RankBindingTest, WhatEachRankHasIsReadAsItWasWritten) {
  EXPECT_TRUE(read_rank_cpus(*job_, 1)->empty());
  ASSERT_TRUE(write_rank_cpus(*job_, 1, 2, {4, 5}).ok());
  ASSERT_TRUE(write_rank_cpus(*job_, 1, 0, {0}).ok());
  EXPECT_EQ(*read_rank_cpus(*job_, 1), (std::vector<std::vector<int>>{{0}, {}, {4, 5}}));
  EXPECT_TRUE(read_rank_cpus(*job_, 2)->empty()) << "each attempt has its own";
}

TEST_F(RankBindingTest, AFileOfNoRankIsPassedOverAndADamagedOneIsTold) {
  ASSERT_TRUE(write_rank_cpus(*job_, 1, 0, {0}).ok());
  for (const char* name : {"3.json", "-1.json", "99999999.json", "0", "x.json"}) write(name, "no JSON");
  EXPECT_EQ(*read_rank_cpus(*job_, 1), (std::vector<std::vector<int>>{{0}}));
  write("1.json", "{\"cpus\": \"all\"}");
  EXPECT_EQ(read_rank_cpus(*job_, 1).status().code(), Code::kDataLoss);
}

TEST(CpusOfRank, AreAShareOfItsOwnOnes) {
  RankPlace place;
  EXPECT_FALSE(cpus_of_rank({}, place)->has_value());
  EXPECT_EQ(**cpus_of_rank({true, jobs::Binding::kNone}, place), jobs::own_cpus());
  EXPECT_EQ(**cpus_of_rank({false, jobs::Binding::kCores}, place), jobs::own_cpus()) << "one rank has all";
  place.local_rank = 1;
  EXPECT_EQ(cpus_of_rank({false, jobs::Binding::kSockets}, place).status().code(), Code::kFailedPrecondition);
  place = {.local_world_size = 1 << 20};
  EXPECT_EQ(cpus_of_rank({false, jobs::Binding::kCores}, place).status().code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace trainwarden::ranks
