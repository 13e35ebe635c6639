// Checkpoints on request in processes that are killed, and in children that only load data.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "core/base/folder_testing.h"
#include "data/format/checkpoint_events.h"
#include "data/format/control_record.h"
#include "hook/capture/capture_testing.h"
#include "store/storage/local_storage.h"

namespace trainwarden::capture {
namespace {

namespace fs = std::filesystem;

void request(const fs::path& run, const std::string& key) {
  const auto storage = storage::open_local_storage(run);
  ASSERT_TRUE(storage->create_folder(format::kControlFolder).ok());
  const format::CheckpointRequestRecord wanted{.key = key, .reason = "r", .requested_by = "user", .unix_ns = 1};
  ASSERT_TRUE(
      storage->put_if_absent(format::checkpoint_request_path(key), as_bytes(format::encode_checkpoint_request(wanted)))
          .ok());
}

std::unique_ptr<Hook> open(const fs::path& run) {
  HookOptions options = keep_all_of("x");
  options.run_dir = run;
  auto hook = Hook::open(options);
  if (!hook.ok()) return nullptr;
  (*hook)->offer_checkpoints();
  return *std::move(hook);
}

void train_until_asked(Hook& hook) {
  do {
    hook.save_scalar("s", 1);
    static_cast<void>(hook.flush());
  } while (!hook.end_step().checkpoint_requested);
}

int state_of_child(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a child that hangs is killed
    ::_exit(body() ? 0 : 1);
  }
  int state = 0;
  ::waitpid(child, &state, 0);
  return state;
}

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(HookCheckpointKilled, WhileSavingLeavesNoHalfFileAndTheNextProcessSaves) {
  const TestFolder folder;
  const fs::path run = folder.path() / "run";
  request(run, "k");
  const int state = state_of_child([&] {
    const auto hook = open(run);
    if (hook == nullptr) return false;
    train_until_asked(*hook);
    if (!hook->take_checkpoint_request()) return false;
    static_cast<void>(hook->write_checkpoint(".pt", [](const fs::path& file) {
      std::ofstream(file) << "half of it, and more than will be written later" << std::flush;
      ::raise(SIGKILL);
      return Status();
    }));
    return false;
  });
  ASSERT_TRUE(WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL);
  for (const std::string& name : files_in(run / "checkpoints")) EXPECT_TRUE(name.ends_with(".tmp")) << name;

  const auto hook = open(run);
  ASSERT_NE(hook, nullptr);
  train_until_asked(*hook);
  const auto wanted = hook->take_checkpoint_request();
  ASSERT_TRUE(wanted.has_value());
  EXPECT_EQ(wanted->key, "k");
  const auto file = hook->write_checkpoint(".pt", [](const fs::path& path) {
    std::ofstream(path) << "whole";
    return Status();
  });
  hook->answer_checkpoint(*wanted, file);
  ASSERT_TRUE(hook->close().ok());
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(text_of(*file), "whole");
  EXPECT_EQ(files_in(run / "checkpoints").size(), 1u) << "what was left half is gone";
  const auto events = read_run(*storage::open_local_storage(run)).events;
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](const std::string& json) {
    const auto event = format::decode_checkpoint_event(json);
    return event.ok() && event->has_value() && (*event)->state == format::CheckpointState::kSaved;
  }));
}

TEST(HookCheckpointFork, TheChildAnswersNothing) {
  const TestFolder folder;
  const fs::path run = folder.path() / "run";
  const auto hook = open(run);
  ASSERT_NE(hook, nullptr);
  request(run, "k");
  train_until_asked(*hook);
  const int state = state_of_child([&] {
    const bool asked = hook->end_step().checkpoint_requested || hook->take_checkpoint_request().has_value();
    hook->answer_checkpoint({.key = "k"}, fs::path());
    const auto file = hook->write_checkpoint(".pt", [](const fs::path&) { return Status(); });
    return !asked && !file.ok();
  });
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0);
  const auto wanted = hook->take_checkpoint_request();
  ASSERT_TRUE(wanted.has_value()) << "it waits for the parent";
  hook->answer_checkpoint(*wanted, fs::path());
  ASSERT_TRUE(hook->close().ok());
}

}  // namespace
}  // namespace trainwarden::capture
