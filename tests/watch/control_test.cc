// Requests to a training that a hook writes, in this process and in others.
#include "trainwarden/control.h"

#include <csignal>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/folder_testing.h"
#include "store/storage/local_storage.h"
#include "trainwarden/hook.h"
#include "trainwarden/trial.h"

namespace trainwarden {
namespace {

using namespace std::chrono_literals;
using Then = StopRequestOptions::Then;

constexpr auto kSoon = 60s;

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// A training in a process of its own, so that it holds the lock of its journal as trainings do.
class Training {
 public:
  enum class Manner { kStops, kNeverLooks, kIgnoresSigterm };

  Training(const std::filesystem::path& run, Manner manner, bool saves = false) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) ::_exit(train(run, manner, saves, ready[1]));
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);  // the first step is written
    ::close(ready[0]);
  }
  ~Training() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    end();
  }
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  int end() {  // the signal that ended it, else its exit code
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }
  // From now on not even its writer thread reads requests.
  void freeze() {
    ::kill(pid_, SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }
  bool is_alive() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  static int train(const std::filesystem::path& run, Manner manner, bool saves, int ready) {
    if (manner == Manner::kIgnoresSigterm) ::signal(SIGTERM, SIG_IGN);
    auto hook = Hook::open({.run_dir = run});
    if (!hook.ok()) return 9;
    if (saves) (*hook)->offer_checkpoints();
    for (int step = 0;; ++step) {
      (*hook)->save_scalar("loss", step);
      const bool asked = (*hook)->end_step().stop_requested;
      if (const auto request = (*hook)->take_checkpoint_request()) {
        (*hook)->answer_checkpoint(*request, (*hook)->write_checkpoint(".txt", [](const std::filesystem::path& file) {
          std::ofstream(file) << "weights";
          return Status();
        }));
      }
      if (step == 0 && (!(*hook)->flush().ok() || ::write(ready, "x", 1) != 1)) return 9;
      while (manner != Manner::kStops) ::pause();
      if (asked) return (*hook)->close().ok() ? 0 : 9;
      std::this_thread::sleep_for(1ms);  // a step takes its time
    }
  }

  pid_t pid_ = -1;
};

class ControlTest : public testing::Test {
 protected:
  StopRequestOptions patient() const {
    StopRequestOptions options;
    options.reason = "the loss is flat";
    options.timeout = kSoon;
    return options;
  }
  std::vector<std::string> requests() const {
    return storage::open_local_storage(run_)->list("control").value_or(std::vector<std::string>{});
  }

  TestFolder folder_;
  const std::filesystem::path run_ = folder_.path() / "first";
};

TEST_F(ControlTest, StopsATrainingAndSeesItsEnd) {
  Training training(run_, Training::Manner::kStops);
  const auto answer = request_stop(run_, patient());
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(answer->status_before, "InProgress");
  EXPECT_FALSE(answer->already);
  EXPECT_TRUE(answer->accepted);
  EXPECT_TRUE(answer->ended);
  EXPECT_EQ(training.end(), 0);
  EXPECT_EQ(requests(), std::vector<std::string>{"stop-" + answer->key + ".json"});

  // What has ended is fine, and nothing more is asked of it.
  const auto again = request_stop(run_, patient());
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(again->already && again->ended);
  EXPECT_EQ(again->status_before, "Stopped");
  EXPECT_EQ(requests().size(), 1u);

  StopRequestOptions strict = patient();
  strict.if_status = "InProgress";
  const Status refused = request_stop(run_, strict).status();
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_TRUE(contains(refused.message(), "expected a run whose status is InProgress, found Stopped"))
      << refused.message();
}

TEST_F(ControlTest, TheSameKeyAsksOnce) {
  Training training(run_, Training::Manner::kNeverLooks);
  training.freeze();
  StopRequestOptions options = patient();
  options.key = "maintenance-7";
  options.wait = false;
  for (int i = 0; i < 3; ++i) {
    const auto answer = request_stop(run_, options);
    ASSERT_TRUE(answer.ok()) << answer.status().message();
    EXPECT_EQ(answer->key, "maintenance-7");
    EXPECT_FALSE(answer->accepted || answer->ended);
  }
  EXPECT_EQ(requests(), std::vector<std::string>{"stop-maintenance-7.json"});
}

TEST_F(ControlTest, NoAnswerInTime) {
  Training training(run_, Training::Manner::kNeverLooks);
  training.freeze();
  StopRequestOptions options = patient();
  options.timeout = 50ms;
  int looks = 0;
  options.idle = [&] { ++looks; };
  const Status status = request_stop(run_, options).status();
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(contains(status.message(), "the request stays")) << status.message();
  EXPECT_GT(looks, 1);
  EXPECT_TRUE(training.is_alive());
}

TEST_F(ControlTest, TheCallerLeaves) {
  Training training(run_, Training::Manner::kNeverLooks);
  training.freeze();
  std::stop_source source;
  StopRequestOptions options = patient();
  options.stop = source.get_token();
  options.idle = [&] { source.request_stop(); };
  EXPECT_EQ(request_stop(run_, options).status().code(), Code::kCancelled);
}

// Its hook takes the request, and the program hangs in its step.
TEST_F(ControlTest, ATrainingThatHangsHasAnsweredAndIsEndedByForce) {
  Training training(run_, Training::Manner::kNeverLooks);
  StopRequestOptions options = patient();
  options.then = Then::kTerm;
  options.term_grace = 100ms;
  const auto answer = request_stop(run_, options);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_TRUE(contains(answer->story, "has taken the request")) << answer->story;
  EXPECT_TRUE(contains(answer->story, "SIGTERM to process")) << answer->story;
  EXPECT_EQ(training.end(), SIGTERM);
}

TEST_F(ControlTest, ForceByTime) {
  Training training(run_, Training::Manner::kIgnoresSigterm);
  StopRequestOptions options = patient();
  options.timeout = 50ms;
  options.then = Then::kKill;
  options.term_grace = 100ms;
  const auto answer = request_stop(run_, options);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_TRUE(contains(answer->story, "SIGTERM to process") && contains(answer->story, "SIGKILL to process"))
      << answer->story;
  EXPECT_TRUE(answer->ended);
  EXPECT_EQ(training.end(), SIGKILL);
}

TEST_F(ControlTest, WhatCannotBeAsked) {
  EXPECT_EQ(request_stop(run_, patient()).status().code(), Code::kNotFound);
  EXPECT_EQ(request_save(run_).status().code(), Code::kNotFound);
  ASSERT_TRUE(std::move(Hook::open({.run_dir = run_})).value()->close().ok());
  StopRequestOptions options = patient();
  options.key = "../up";
  EXPECT_EQ(request_stop(run_, options).status().code(), Code::kInvalidArgument);
  options = patient();
  options.wait = false;
  options.then = Then::kTerm;
  EXPECT_EQ(request_stop(run_, options).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(requests().empty());
}

TEST_F(ControlTest, SavesACheckpoint) {
  const Training training(run_, Training::Manner::kStops, true);
  SaveRequestOptions options;
  options.timeout = kSoon;
  const auto answer = request_save(run_, options);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_TRUE(answer->saved);
  EXPECT_TRUE(answer->checkpoint.starts_with("checkpoints/")) << answer->checkpoint;
  EXPECT_TRUE(std::filesystem::exists(run_ / answer->checkpoint)) << answer->checkpoint;
  EXPECT_FALSE(answer->dumped);
  EXPECT_TRUE(training.is_alive());
}

TEST_F(ControlTest, AProgramThatDoesNotSayHowItSavesRefuses) {
  const Training training(run_, Training::Manner::kStops);
  SaveRequestOptions options;
  options.timeout = kSoon;
  const Status status = request_save(run_, options).status();
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_TRUE(contains(status.message(), "on_checkpoint")) << status.message();
}

// What a process that was killed, or somebody else, left under the request's name is none.
TEST_F(ControlTest, SaysAskedOnlyWhenTheRequestIsTheOneThatWasAsked) {
  Training training(run_, Training::Manner::kNeverLooks);
  training.freeze();
  for (const char* place : {"stop-nightly.json", "checkpoint-nightly.json"}) {
    std::ofstream(run_ / "control" / place) << "left over";
  }
  const auto stopped = request_stop(run_, {.key = "nightly", .wait = false});
  EXPECT_EQ(stopped.status().code(), Code::kAlreadyExists) << stopped.status().to_string();
  const auto saved = request_save(run_, {.key = "nightly", .wait = false});
  EXPECT_EQ(saved.status().code(), Code::kAlreadyExists) << saved.status().to_string();

  EXPECT_TRUE(request_stop(run_, {.key = "weekly", .wait = false}).ok());
  EXPECT_TRUE(request_stop(run_, {.reason = "asked again", .key = "weekly", .wait = false}).ok());
}

// The page of yesterday's run says stop, and today's lies in its folder.
TEST_F(ControlTest, AsksNothingOfARunThatTookTheOthersPlace) {
  std::string old_id;
  {
    Training old(run_, Training::Manner::kNeverLooks);
    old_id = Trial::open(run_).value()->run_id();
  }
  std::filesystem::remove_all(run_);
  Training training(run_, Training::Manner::kNeverLooks);
  const std::string new_id = Trial::open(run_).value()->run_id();
  ASSERT_NE(old_id, new_id);
  EXPECT_EQ(request_stop(run_, {.run_id = old_id, .wait = false}).status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(request_save(run_, {.run_id = old_id, .wait = false}).status().code(), Code::kFailedPrecondition);
  EXPECT_TRUE(requests().empty());
  EXPECT_TRUE(request_stop(run_, {.run_id = new_id, .wait = false}).ok());
}

// Whoever may write into the run could have put it there: a request would be written into somebody's folder.
TEST_F(ControlTest, FollowsNoLinkInARun) {
  Training training(run_, Training::Manner::kNeverLooks);
  const std::filesystem::path victim = folder_.path() / "victim";
  std::filesystem::create_directories(victim);
  std::filesystem::remove_all(run_ / "control");
  std::filesystem::create_directory_symlink(victim, run_ / "control");
  EXPECT_EQ(request_stop(run_, {.wait = false}).status().code(), Code::kPermissionDenied);
  EXPECT_TRUE(std::filesystem::is_empty(victim));
}

}  // namespace
}  // namespace trainwarden
