#include "ui/server/tail.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ui/answers/live_run_testing.h"

namespace trainwarden::server {
namespace {

using answers::LiveRun;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

class TailTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / fmt::format("tail_test-{}", getpid());
    fs::create_directories(folder_);
    board_.on_news([this] {
      const std::lock_guard lock(mutex_);
      news_ = true;
      changed_.notify_one();
    });
  }
  void TearDown() override {
    tail_.reset();
    fs::remove_all(folder_);
  }

  void start() {
    shelf_ = *views::Shelf::open(folder_);
    tail_ = std::make_unique<Tail>(*shelf_, board_);
  }

  // False when nothing is published for so long.
  bool wait_for_news(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_for(lock, timeout, [&] { return news_; });
    news_ = false;
    return came;
  }

  // The next notice of this kind; fails when none comes.
  Notice next(std::string_view kind) {
    do {
      for (const Notice& notice : board_.after(read_)) {
        if (notice.kind != kind) continue;
        read_ = notice.version;
        return notice;
      }
    } while (wait_for_news(60s));
    ADD_FAILURE() << "no notice of " << kind;
    return {};
  }

  bool was_published(std::string_view kind, std::string_view run) const {
    const std::vector<Notice> notices = board_.after(1);
    return std::any_of(notices.begin(), notices.end(),
                       [&](const Notice& notice) { return notice.kind == kind && notice.run == run; });
  }

  fs::path folder_;
  NoticeBoard board_{1};
  std::uint64_t read_ = 1;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool news_ = false;
  std::unique_ptr<views::Shelf> shelf_;
  std::unique_ptr<Tail> tail_;
};

TEST_F(TailTest, TellsOfEachStepAndVerdictOfARunThatSomebodyLooksAt) {
  LiveRun run(folder_ / "first");
  run.step(0);
  start();
  tail_->looked_at(views::run_id_of("first"));
  tail_->set_listeners(1);
  EXPECT_EQ(next("steps").last_step, 0) << "the first look publishes what there is";
  run.step(1);
  const Notice notice = next("steps");
  EXPECT_EQ(notice.run, views::run_id_of("first"));
  EXPECT_EQ(notice.last_step, 1);
  run.judge();
  EXPECT_EQ(next("rules").run, views::run_id_of("first"));
}

TEST_F(TailTest, TellsOfRunsThatComeAndOfThoseThatNobodyLooksAt) {
  LiveRun first(folder_ / "first"), second(folder_ / "second");
  start();
  tail_->looked_at(views::run_id_of("first"));
  tail_->set_listeners(1);
  // What is there at the first look is not published. Behind two looks at a run there was one at the folder.
  next("steps");
  first.step(0);
  next("steps");
  EXPECT_FALSE(was_published("runs", ""));
  LiveRun third(folder_ / "third");
  next("runs");
  const std::string id = views::run_id_of("second");
  second.step(0);
  while (!was_published("steps", id) && wait_for_news(60s)) continue;
  EXPECT_TRUE(was_published("steps", id));
}

TEST_F(TailTest, SleepsWhileNobodyListensAndThenTellsWhatCameMeanwhile) {
  LiveRun run(folder_ / "first");
  run.step(0);
  start();
  tail_->looked_at(views::run_id_of("first"));
  tail_->set_listeners(1);
  next("steps");
  tail_->set_listeners(0);
  run.step(1);
  tail_->set_listeners(1);
  EXPECT_EQ(next("steps").last_step, 1);
}

}  // namespace
}  // namespace trainwarden::server
