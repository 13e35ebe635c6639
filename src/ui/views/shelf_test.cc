#include "ui/views/shelf.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"
#include "store/journal/run_folder.h"
#include "store/storage/local_storage.h"

namespace trainwarden::views {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class ShelfTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("shelf_test-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void add_run(const std::string& name, char digit = 'a') {
    fs::create_directories(folder_ / name);
    const auto storage = storage::open_local_storage(folder_ / name);
    journal::RunInfo info;
    info.id = std::string(32, digit);
    ASSERT_TRUE(journal::create_or_join_run(*storage, info).ok());
  }

  fs::path folder_;
};

TEST_F(ShelfTest, NamesRunsByIdsThatStay) {
  add_run("first");
  add_run("second");
  fs::create_directories(folder_ / "no_run");
  const auto shelf = Shelf::open(folder_);
  ASSERT_TRUE(shelf.ok()) << shelf.status().to_string();
  const auto runs = (*shelf)->list();
  ASSERT_EQ(runs->size(), 2U);
  EXPECT_EQ((*runs)[0].name, "first");
  EXPECT_EQ((*runs)[0].id, run_id_of("first"));
  EXPECT_EQ((*runs)[0].id.size(), 16U);

  EXPECT_EQ((*(*shelf)->run(run_id_of("second")))->name(), "second");
  EXPECT_EQ((*shelf)->run("../first").status().code(), Code::kNotFound);
  EXPECT_EQ((*shelf)->run(run_id_of("no_run")).status().code(), Code::kNotFound);
}

TEST_F(ShelfTest, HoldsOneRunWhenThePlaceIsOne) {
  add_run("only");
  const auto shelf = Shelf::open((folder_ / "only").string() + "/");
  ASSERT_TRUE(shelf.ok()) << shelf.status().to_string();
  ASSERT_EQ((*shelf)->list()->size(), 1U);
  EXPECT_TRUE((*shelf)->run(run_id_of("only")).ok());
}

TEST_F(ShelfTest, OpensABlackBoxAsARunOfItsOwn) {
  add_run("first");
  add_run("first/blackbox/step-000007-rank-00000");
  fs::create_directories(folder_ / "first/blackbox/torn");  // its run.json was never written
  const auto shelf = Shelf::open(folder_);
  ASSERT_EQ((*shelf)->list()->size(), 1U);
  const std::string name = "first/blackbox/step-000007-rank-00000";
  const auto box = (*shelf)->run(run_id_of(name));
  ASSERT_TRUE(box.ok()) << box.status().to_string();
  EXPECT_EQ((*box)->name(), name);
  EXPECT_EQ((*shelf)->run(run_id_of("first/blackbox/torn")).status().code(), Code::kNotFound);
}

TEST_F(ShelfTest, KeepsNoMoreRunsOpenThanItMay) {
  add_run("a");
  add_run("b");
  const auto shelf = Shelf::open(folder_, 1);
  const auto first = *(*shelf)->run(run_id_of("a"));
  EXPECT_EQ(*(*shelf)->run(run_id_of("a")), first);
  ASSERT_TRUE((*shelf)->run(run_id_of("b")).ok());
  EXPECT_NE(*(*shelf)->run(run_id_of("a")), first);  // opened anew; who has the old one still may use it
  EXPECT_TRUE(first->use().ok());
}

TEST_F(ShelfTest, OpensTheRunThatLiesThereNow) {
  add_run("a");
  const auto shelf = Shelf::open(folder_);
  const auto first = *(*shelf)->run(run_id_of("a"));
  fs::remove_all(folder_ / "a");
  EXPECT_EQ((*shelf)->run(run_id_of("a")).status().code(), Code::kNotFound);
  add_run("a", 'b');
  const auto second = (*shelf)->run(run_id_of("a"));
  ASSERT_TRUE(second.ok()) << second.status().to_string();
  EXPECT_NE((*second)->identity(), first->identity());
  EXPECT_EQ(*(*shelf)->run(run_id_of("a")), *second) << "and keeps it open";
}

TEST_F(ShelfTest, KeepsARunThatIsUsedAfterItWasClosed) {
  add_run("a");
  add_run("b");
  const auto shelf = Shelf::open(folder_, 1);
  const auto use = (*(*shelf)->run(run_id_of("a")))->use();
  ASSERT_TRUE((*shelf)->run(run_id_of("b")).ok());
  EXPECT_EQ(use->run().name(), "a");
  EXPECT_EQ(use->trial().steps().size(), 0U);
}

TEST_F(ShelfTest, ClosesWhatTheListAloneHasAskedFor) {
  add_run("a");
  add_run("b");
  const auto shelf = Shelf::open(folder_);
  const auto runs = (*shelf)->list();
  const std::weak_ptr<OpenRun> a = *(*shelf)->listed_run(runs->at(0));
  const std::weak_ptr<OpenRun> b = *(*shelf)->listed_run(runs->at(1));
  EXPECT_EQ(*(*shelf)->run(run_id_of("b")), b.lock()) << "it is opened once";
  (*shelf)->close_listed(run_id_of("a"));
  (*shelf)->close_listed(run_id_of("b"));
  EXPECT_TRUE(a.expired());
  EXPECT_FALSE(b.expired()) << "somebody looks at it";
}

TEST_F(ShelfTest, OpensARunOnceForAllWhoAskAtOnce) {
  add_run("a");
  const auto shelf = Shelf::open(folder_);
  std::vector<std::shared_ptr<OpenRun>> found(4);
  std::vector<std::thread> threads;
  for (auto& run : found) threads.emplace_back([&] { run = *(*shelf)->run(run_id_of("a")); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& run : found) EXPECT_EQ(run, found[0]);
}

TEST_F(ShelfTest, SaysThatThereIsNoFolder) {
  const auto shelf = Shelf::open(folder_ / "absent");
  ASSERT_FALSE(shelf.ok());
  EXPECT_NE(shelf.status().message().find("start one with"), std::string::npos);
}

TEST(OpenRunTest, CountsAVersionForEachNews) {
  TestRun written;
  written.add({.step = 0, .tensors = {kept("w", {1, 2})}});
  OpenRun run("r", written.open());
  const std::uint64_t first = run.use(0ms)->version();
  EXPECT_EQ(run.use(0ms)->version(), first);
  written.add({.step = 1, .tensors = {kept("w", {1, 2}), kept("late", {3})}});
  const auto use = run.use(0ms);
  EXPECT_GT(use->version(), first);
  EXPECT_EQ(*use->tensor_name(tensor_id_of("late")), "late");
  EXPECT_EQ(use->tensor_name("0123456789abcdef").status().code(), Code::kNotFound);
}

TEST(OpenRunTest, RemembersOneObjectOfAType) {
  TestRun written;
  written.add({.step = 0, .tensors = {kept("w", {1})}});
  OpenRun run("r", written.open());
  run.use()->memory<std::vector<int>>().push_back(4);
  EXPECT_EQ(run.use()->memory<std::vector<int>>(), std::vector<int>{4});
}

}  // namespace
}  // namespace trainwarden::views
