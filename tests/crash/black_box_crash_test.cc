// The process dies on a signal: the black box is there bit for bit, and the process has died as it would have without.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "black_box_pattern.h"
#include "data/format/json.h"
#include "hook/capture/capture_testing.h"
#include "store/storage/local_storage.h"

extern char** environ;

namespace trainwarden::crash {
namespace {

using capture::ReadRun;
using capture::ReadStep;
using std::filesystem::path;

// Starts the child; sends it `sent` when it says that it is ready. How it ended, as waitpid tells it.
int run_child(const path& run, const std::string& how, int sent = 0) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::vector<std::string> words = {TW_BLACK_BOX_CHILD, run.string(), how};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t pid = -1;
  EXPECT_EQ(::posix_spawn(&pid, TW_BLACK_BOX_CHILD, &actions, nullptr, pointers.data(), environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  char byte;
  if (::read(ends[0], &byte, 1) == 1 && sent != 0) ::kill(pid, sent);
  int state = 0;
  ::waitpid(pid, &state, 0);
  ::close(ends[0]);
  return state;
}

class BlackBoxCrash : public testing::Test {
 protected:
  BlackBoxCrash() {
    std::filesystem::remove_all(run_);
    const rlimit no_core = {0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
  }
  ~BlackBoxCrash() override { std::filesystem::remove_all(run_); }

  std::vector<std::string> dumps() const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(run_ / "blackbox", none)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
  ReadRun read_dump(const std::string& name) const {
    return capture::read_run(*storage::open_local_storage(run_ / "blackbox" / name));
  }
  format::Json replay(const std::string& name) const {
    const auto text = storage::open_local_storage(run_ / "blackbox" / name)->read("replay.json");
    EXPECT_TRUE(text.ok()) << text.status().to_string();
    const auto json = format::parse_json_object(text.value_or("{}"), "replay.json");
    EXPECT_TRUE(json.ok()) << json.status().to_string();
    return json.value_or(format::Json::object());
  }
  void expect_values_of(const ReadStep& step) const {
    const std::vector<float> expected = box_values(step.entry.global_step);
    ASSERT_EQ(step.values.size(), 6u);
    EXPECT_EQ(capture::floats_of(step.values.at(kBoxWeight)), expected);
    EXPECT_EQ(capture::floats_of(step.values.at(kBoxGradient)), expected);
  }
  // The failing step and the three before it, whole.
  void expect_whole_dump(const std::string& signal) const {
    ASSERT_EQ(dumps(), std::vector<std::string>{"step-000020-rank-00000"});
    const ReadRun run = read_dump(dumps()[0]);
    ASSERT_EQ(run.steps.size(), 4u);
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
      EXPECT_EQ(run.steps[i].entry.global_step, kBoxFailingStep - kBoxSteps + static_cast<std::int64_t>(i));
      expect_values_of(run.steps[i]);
    }
    const format::Json json = replay(dumps()[0]);
    EXPECT_EQ(json["why"]["kind"], "signal");
    EXPECT_EQ(json["why"]["signal"], signal);
    EXPECT_EQ(json["skip"], format::Json::parse(R"([{"global_step":20,"epoch":0,"number":20,"indices":[40,41]}])"));
    EXPECT_EQ(json["generator_states"], format::Json::parse(R"(["trainwarden/rng/torch"])"));
    EXPECT_TRUE(json["steps"][3]["open"]);
    expect_run_is_fine();
  }
  // What was acknowledged before is there, whatever happened.
  void expect_run_is_fine() const {
    const ReadRun run = capture::read_run(*storage::open_local_storage(run_));
    ASSERT_GE(run.steps.size(), static_cast<std::size_t>(kBoxFailingStep));
    EXPECT_EQ(run.steps[19].scalars.at("trainwarden/batch/number"), 19);
  }

  const path run_ =
      std::filesystem::temp_directory_path() / ("black_box_crash_" + std::to_string(::getpid()) + "_" +
                                                testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(BlackBoxCrash, EveryFatalSignalWritesItAndStillEndsTheProcess) {
  const std::pair<std::string, int> ways[] = {{"segv", SIGSEGV}, {"bus", SIGBUS},    {"fpe", SIGFPE},
                                              {"ill", SIGILL},   {"abort", SIGABRT}, {"overflow", SIGSEGV}};
  const std::set<std::string> names = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"};
  for (const auto& [how, signal] : ways) {
    SCOPED_TRACE(how);
    std::filesystem::remove_all(run_);
    const int state = run_child(run_, how);
    EXPECT_TRUE(WIFSIGNALED(state) && WTERMSIG(state) == signal) << state;
    expect_whole_dump("SIG" + std::string(::sigabbrev_np(signal)));
  }
}

TEST_F(BlackBoxCrash, SoDoesSigtermThatNobodyHandles) {
  const int state = run_child(run_, "term", SIGTERM);
  EXPECT_TRUE(WIFSIGNALED(state) && WTERMSIG(state) == SIGTERM) << state;
  expect_whole_dump("SIGTERM");
}

TEST_F(BlackBoxCrash, AHandlerOfTheProgramStillRuns) {
  const int state = run_child(run_, "handler");
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 42) << state;
  expect_whole_dump("SIGSEGV");
}

// Nobody can catch it; what was written before is there all the same.
TEST_F(BlackBoxCrash, SigkillLeavesTheRunFineAndNoDump) {
  const int state = run_child(run_, "kill", SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL) << state;
  EXPECT_TRUE(dumps().empty());
  expect_run_is_fine();
}

TEST_F(BlackBoxCrash, AfterCloseTheSignalsAreTheProgramsAgain) {
  const int state = run_child(run_, "closed");
  EXPECT_TRUE(WIFSIGNALED(state) && WTERMSIG(state) == SIGSEGV) << state;
  EXPECT_TRUE(dumps().empty());
}

// The first one writes; the others wait, and end the process when it has.
TEST_F(BlackBoxCrash, FaultsInSeveralThreadsAtOnceLoseNothing) {
  for (int i = 0; i < 30; ++i) {
    SCOPED_TRACE(i);
    std::filesystem::remove_all(run_);
    const int state = run_child(run_, "threads");
    EXPECT_TRUE(WIFSIGNALED(state) && WTERMSIG(state) == SIGSEGV) << state;
    expect_whole_dump("SIGSEGV");
    if (HasFailure()) return;
  }
}

// The training thread goes on filling the ring while another thread's handler writes it.
TEST_F(BlackBoxCrash, AFaultInAnotherThreadWritesStepsThatAreWhole) {
  for (int i = 0; i < 5; ++i) {
    std::filesystem::remove_all(run_);
    const int state = run_child(run_, "thread");
    EXPECT_TRUE(WIFSIGNALED(state) && WTERMSIG(state) == SIGSEGV) << state;
    ASSERT_EQ(dumps().size(), 1u);
    const ReadRun run = read_dump(dumps()[0]);
    ASSERT_FALSE(run.steps.empty());
    for (const ReadStep& step : run.steps) {
      for (const auto& [name, value] : step.values) {
        if (name == kBoxWeight || name == kBoxGradient) {
          EXPECT_EQ(capture::floats_of(value), box_values(step.entry.global_step));
        }
      }
    }
    for (std::size_t held = 0; held + 1 < run.steps.size(); ++held) expect_values_of(run.steps[held]);
    expect_run_is_fine();
  }
}

}  // namespace
}  // namespace trainwarden::crash
