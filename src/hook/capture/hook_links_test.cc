// A run's folder into which somebody has put links to another's files: nothing is written through them, and the
// training goes on.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/base/folder_testing.h"
#include "core/base/log.h"
#include "data/format/control_record.h"
#include "hook/capture/capture_testing.h"
#include "hook/capture/requests/checkpoint_file.h"
#include "store/journal/run_folder.h"
#include "store/storage/local_storage.h"

namespace trainwarden::capture {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSecret = "the victim's";

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

class HookLinksTest : public testing::Test {
 protected:
  HookLinksTest() {
    set_log_sink([](LogLevel, std::string_view) {});
    fs::create_directories(run_);
    fs::create_directories(victim_);
    std::ofstream(victim_ / "file") << kSecret;
  }
  ~HookLinksTest() override {
    set_log_sink(nullptr);
    EXPECT_EQ(content_of(victim_ / "file"), kSecret);
    EXPECT_EQ(std::distance(fs::directory_iterator(victim_), {}), 1) << "something was put there";
  }

  Result<std::unique_ptr<Hook>> open() {
    HookOptions options = keep_all_of("x");
    options.run_dir = run_;
    options.black_box.steps = 2;
    return Hook::open(options);
  }
  void expect_refused(const std::string& place) {
    const auto hook = open();
    EXPECT_EQ(hook.status().code(), Code::kPermissionDenied) << place << ": " << hook.status().to_string();
  }

  TestFolder folder_;
  const fs::path run_ = folder_.path() / "run";
  const fs::path victim_ = folder_.path() / "victim";
};

TEST_F(HookLinksTest, FoldersThatAreLinksAreRefused) {
  for (const char* place : {"journal", "control"}) {
    fs::create_symlink(victim_, run_ / place);
    expect_refused(place);
    fs::remove_all(run_);
    fs::create_directories(run_);
  }
  fs::create_directories(run_ / "journal");
  fs::create_symlink(victim_, run_ / "journal" / "rank-00000");
  expect_refused("journal/rank-00000");
}

TEST_F(HookLinksTest, ALinkInPlaceOfTheRunsDescriptionIsRefused) {
  fs::create_symlink(victim_ / "file", run_ / journal::kRunFile);
  expect_refused(journal::kRunFile);
}

TEST_F(HookLinksTest, NoLockFileIsALink) {
  const fs::path lock = run_ / "journal" / "rank-00000" / "writer.lock";
  fs::create_directories(lock.parent_path());
  fs::create_symlink(victim_ / "file", lock);
  expect_refused("a symbolic link");
  fs::remove(lock);
  fs::create_hard_link(victim_ / "file", lock);
  expect_refused("a hard link");
}

// It is taken by a name that is there, whatever that leads to: the writer takes the next one.
TEST_F(HookLinksTest, ASegmentIsNeverWrittenThroughALink) {
  const fs::path journal = run_ / "journal" / "rank-00000";
  fs::create_directories(journal);
  fs::create_symlink(victim_ / "file", journal / journal::segment_file(0));
  fs::create_symlink(victim_ / "new", journal / journal::segment_file(1));
  auto hook = open();
  ASSERT_TRUE(hook.ok()) << hook.status().to_string();
  (*hook)->save_scalar("s", 1);
  (*hook)->end_step();
  ASSERT_TRUE((*hook)->close().ok());
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(journal / journal::segment_file(2))));
  EXPECT_EQ(read_run(*storage::open_local_storage(run_)).steps.size(), 1u);
}

TEST_F(HookLinksTest, ARequestThatIsALinkIsNotRead) {
  const std::string text = format::encode_stop_request({"planted", "why", "somebody", 1});
  const fs::path elsewhere = folder_.path() / "request";
  std::ofstream(elsewhere) << text;
  fs::create_directories(run_ / "control");
  fs::create_symlink(elsewhere, run_ / "control" / "stop-planted.json");
  auto hook = open();
  ASSERT_TRUE(hook.ok()) << hook.status().to_string();
  const auto storage = storage::open_local_storage(run_);
  // This one is read in the same look at the latest.
  ASSERT_TRUE(
      storage
          ->put_if_absent("control/stop-real.json", as_bytes(format::encode_stop_request({"real", "true", "user", 2})))
          .ok());
  StepEnd end;
  do {
    (*hook)->save_scalar("s", 1);
    end = (*hook)->end_step();
    static_cast<void>((*hook)->flush());
  } while (!end.stop_requested);
  EXPECT_EQ(end.stop_reason, "true");
}

TEST_F(HookLinksTest, NoBlackBoxLeavesTheRun) {
  fs::create_symlink(victim_, run_ / "blackbox");
  auto hook = open();
  ASSERT_TRUE(hook.ok()) << hook.status().to_string();
  (*hook)->save_scalar("s", 1);
  (*hook)->end_step();
  (*hook)->dump_black_box({.kind = "program", .message = "test"});
  static_cast<void>((*hook)->flush());
  EXPECT_TRUE((*hook)->report().black_box.dumps.empty());
}

TEST_F(HookLinksTest, NoCheckpointLeavesTheRun) {
  const auto write = [](const fs::path& path) {
    std::ofstream(path) << "state";
    return Status();
  };
  fs::create_symlink(victim_, run_ / "checkpoints");
  EXPECT_EQ(write_checkpoint_file({run_, 3, 0, ".pt"}, write).status().code(), Code::kPermissionDenied);
  fs::remove(run_ / "checkpoints");

  // What a killed process left goes; a link that somebody put in the place of the file is not taken for it.
  fs::create_directories(run_ / "checkpoints");
  std::ofstream(run_ / "checkpoints" / ".rank-00000.left-over.tmp") << "half";
  const auto as_link = [this](const fs::path& path) {
    fs::create_symlink(victim_ / "file", path);
    return Status();
  };
  EXPECT_EQ(write_checkpoint_file({run_, 3, 0, ".pt"}, as_link).status().code(), Code::kNotFound);
  const auto written = write_checkpoint_file({run_, 3, 0, ".pt"}, write);
  ASSERT_TRUE(written.ok()) << written.status().to_string();
  EXPECT_EQ(content_of(*written), "state");
  EXPECT_EQ(std::distance(fs::directory_iterator(run_ / "checkpoints"), {}), 1);
}

}  // namespace
}  // namespace trainwarden::capture
