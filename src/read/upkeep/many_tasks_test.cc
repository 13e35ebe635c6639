#include "read/upkeep/many_tasks.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace trainwarden::upkeep {
namespace {

TEST(ManyTasks, EachIsDoneOnce) {
  for (const int threads : {1, 3, 64}) {
    std::vector<std::atomic<int>> done(500);
    ASSERT_TRUE(for_each_task(done.size(), threads, [&](std::size_t i) {
                  ++done[i];
                  return Status();
                }).ok());
    for (const std::atomic<int>& count : done) EXPECT_EQ(count.load(), 1);
  }
}

TEST(ManyTasks, NoTaskIsFine) {
  EXPECT_TRUE(for_each_task(0, 4, [](std::size_t) { return Status(Code::kInternal, "called"); }).ok());
}

TEST(ManyTasks, TheFailureOfTheFirstByNumberIsReturnedAndNoFurtherTaskIsBegun) {
  std::atomic<int> begun{0};
  const Status status = for_each_task(10'000, 1, [&](std::size_t i) {
    ++begun;
    return i >= 3 ? Status(Code::kUnavailable, std::to_string(i)) : Status();
  });
  EXPECT_EQ(status.message(), "3");
  EXPECT_EQ(begun.load(), 4);
}

TEST(ManyTasks, WhatATaskThrowsIsAFailure) {
  const Status status = for_each_task(4, 2, [](std::size_t) -> Status { throw std::runtime_error("broken"); });
  EXPECT_EQ(status.code(), Code::kInternal);
  EXPECT_EQ(status.message(), "broken");
}

TEST(ManyTasks, ThreadsAreNeverMoreThanAllowed) {
  EXPECT_EQ(thread_count(7), 7);
  EXPECT_EQ(thread_count(1'000'000), kMaxThreads);
  EXPECT_GE(thread_count(0), 1);
}

}  // namespace
}  // namespace trainwarden::upkeep
