#include "react/actions/stop_action.h"

#include <csignal>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/bytes.h"
#include "core/base/folder_testing.h"
#include "data/format/control_record.h"
#include "react/actions/action_testing.h"
#include "react/actions/worker_processes.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/local_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::actions {
namespace {

using namespace std::chrono_literals;
using Kind = ActionOutcome::Kind;
using Then = StopOptions::Then;

const std::string kRequest = "control/stop-vanishinggradient-120.json";

bool has_text(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Asked of the training: nothing but files, so memory will do.
class StopRequestTest : public ::testing::Test {
 protected:
  ActionOutcome stop(std::function<Result<RunAnswer>(const format::RequestId&)> answer_to, StopOptions options = {},
                     const std::stop_token& token = {}) {
    const auto action = make_stop_action(
        options,
        {.name = "first", .path = "/runs/first", .storage = storage_.get(), .answer_to = std::move(answer_to)});
    EXPECT_EQ(action->name(), "stop");
    EXPECT_EQ(action->place(), "first");
    return action->run(sample_notice(), token);
  }
  static std::function<Result<RunAnswer>(const format::RequestId&)> always(RunAnswer answer) {
    return [answer](const format::RequestId&) -> Result<RunAnswer> { return answer; };
  }
  bool asked() const { return storage_->exists(kRequest); }

  std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
};

TEST_F(StopRequestTest, AsksAndWaitsForTheAnswer) {
  int looks = 0;
  const ActionOutcome outcome = stop([&](const format::RequestId& request) -> Result<RunAnswer> {
    EXPECT_EQ(format::path_of(request), kRequest);
    EXPECT_EQ(asked(), looks > 0);
    return RunAnswer{.accepted = ++looks == 4};
  });
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_EQ(outcome.answer, "the training has taken the request, and stops at the end of its step");
  const auto request = format::decode_stop_request(*storage_->read(kRequest));
  EXPECT_EQ(request->key, "vanishinggradient-120");
  EXPECT_EQ(request->reason, "VanishingGradient fired at step 120 (train 100): 3 of 8 gradients have vanished");
  EXPECT_EQ(request->requested_by, "ledger");
}

TEST_F(StopRequestTest, WhatLedToItIsAskedForBefore) {
  const std::string dump = "control/blackbox-vanishinggradient-120.json";
  const auto ends_once_asked = [this](const format::RequestId&) -> Result<RunAnswer> {
    return RunAnswer{.accepted = asked()};
  };
  EXPECT_EQ(stop(ends_once_asked).kind, Kind::kDone);
  EXPECT_FALSE(storage_->exists(dump));  // the run has no black box

  storage_ = storage::create_memory_storage();
  ASSERT_TRUE(storage_->create_folder(format::kBlackBoxFolder).ok());
  EXPECT_EQ(stop(ends_once_asked).kind, Kind::kDone);
  const auto request = format::decode_black_box_request(*storage_->read(dump));
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->rule, "VanishingGradient");
}

TEST_F(StopRequestTest, ACheckpointIsAskedForBeforeWhereItIsWanted) {
  const std::string checkpoint = "control/checkpoint-vanishinggradient-120.json";
  const auto answer = [&, this](const format::RequestId&) -> Result<RunAnswer> {
    EXPECT_EQ(storage_->exists(checkpoint), asked());
    return RunAnswer{.accepted = asked()};
  };
  EXPECT_EQ(stop(answer, {.save_first = true}).kind, Kind::kDone);
  const auto request = format::decode_checkpoint_request(*storage_->read(checkpoint));
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->key, "vanishinggradient-120");
}

TEST_F(StopRequestTest, TheSameRequestOfAnEarlierAttemptWillDo) {
  ASSERT_TRUE(storage_->create_folder("control").ok());
  const std::string earlier = format::encode_stop_request({sample_notice().key, "as told then", "watch-0", 5});
  ASSERT_TRUE(storage_->put_if_absent(kRequest, as_bytes(earlier)).ok());
  int looks = 0;
  const auto outcome =
      stop([&](const format::RequestId&) -> Result<RunAnswer> { return RunAnswer{.accepted = ++looks == 2}; });
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_EQ(storage_->content(kRequest), earlier);
}

// "Asked" is said only when the training finds what was asked.
TEST_F(StopRequestTest, WhatElseLiesThereIsNoRequest) {
  const std::string other = format::encode_stop_request({"another-key", "why", "user", 5});
  for (const std::string& there : {std::string("left over"), std::string(), other}) {
    storage_ = storage::create_memory_storage();
    storage_->set_content(kRequest, there);
    const auto outcome = stop(nullptr);
    EXPECT_EQ(outcome.kind, Kind::kGiveUp) << there;
    EXPECT_EQ(outcome.status.code(), Code::kAlreadyExists);
    EXPECT_TRUE(has_text(outcome.status.message(), "nothing was asked")) << outcome.status.message();
    EXPECT_EQ(storage_->content(kRequest), there);
  }
}

TEST_F(StopRequestTest, NothingIsAskedOfARunThatTookTheOthersPlace) {
  const auto action = make_stop_action(
      {}, {.name = "first", .path = "/runs/first", .storage = storage_.get(), .run_id = "one", .still_there = [] {
             return Status(Code::kFailedPrecondition, "another run");
           }});
  const auto outcome = action->run(sample_notice(), {});
  EXPECT_EQ(outcome.kind, Kind::kGiveUp);
  EXPECT_EQ(outcome.status.code(), Code::kFailedPrecondition);
  EXPECT_FALSE(asked());
}

TEST_F(StopRequestTest, TheRequestNamesItsRun) {
  const auto action = make_stop_action(
      {}, {.name = "first", .path = "/runs/first", .storage = storage_.get(), .run_id = "one", .still_there = {}});
  EXPECT_EQ(action->run(sample_notice(), {}).kind, Kind::kDone);
  EXPECT_TRUE(has_text(storage_->content(kRequest), "\"run\":\"one\"")) << storage_->content(kRequest);
}

TEST_F(StopRequestTest, WhatHasEndedOrIsStoppingIsNotAskedAgain) {
  EXPECT_EQ(stop(always({.ended = true})).answer, "the training has ended already");
  EXPECT_EQ(stop(always({.accepted = true})).answer, "the training is stopping already");
  EXPECT_FALSE(asked());
}

TEST_F(StopRequestTest, EndsWhileItWaits) {
  int looks = 0;
  const auto outcome =
      stop([&](const format::RequestId&) -> Result<RunAnswer> { return RunAnswer{.ended = ++looks == 3}; });
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_EQ(outcome.answer, "it has ended");
}

TEST_F(StopRequestTest, NoAnswerIsAskedForAgain) {
  const ActionOutcome outcome = stop(always({}), {.grace = 30ms});
  EXPECT_EQ(outcome.kind, Kind::kTryAgain);
  EXPECT_EQ(outcome.status.code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(has_text(outcome.status.message(),
                       "did not answer within 30.0 ms; the request stays, and it stops once it reads it: "))
      << outcome.status.message();
  EXPECT_TRUE(asked());
}

TEST_F(StopRequestTest, WithoutAListenerItOnlyAsks) {
  EXPECT_EQ(stop(nullptr).kind, Kind::kDone);
  EXPECT_TRUE(asked());
}

TEST_F(StopRequestTest, TheCallerLeaves) {
  std::stop_source source;
  source.request_stop();
  const ActionOutcome outcome = stop(always({}), {}, source.get_token());
  EXPECT_EQ(outcome.kind, Kind::kTryAgain);
  EXPECT_EQ(outcome.status.code(), Code::kCancelled);
  EXPECT_TRUE(asked());
}

TEST_F(StopRequestTest, WhatFailsIsTold) {
  const auto damaged =
      stop([](const format::RequestId&) -> Result<RunAnswer> { return Status(Code::kDataLoss, "damaged"); });
  EXPECT_EQ(damaged.kind, Kind::kTryAgain);
  EXPECT_EQ(damaged.status.code(), Code::kDataLoss);
  const auto full = storage::create_faulty_storage(*storage_);
  full->set_plan({.fail_call = 0, .fail_all_after = true});
  const auto action = make_stop_action({}, {.storage = full.get(), .answer_to = always({})});
  const ActionOutcome outcome = action->run(sample_notice(), {});
  EXPECT_EQ(outcome.kind, Kind::kTryAgain);
  EXPECT_EQ(outcome.status.code(), Code::kResourceExhausted);
}

TEST_F(StopRequestTest, ParametersAreRead) {
  EXPECT_TRUE(create_action("stop", {{"grace", {"5s"}}, {"then", {"kill"}}, {"term_grace", {"1m"}}}).ok());
  EXPECT_EQ(create_action("stop", {{"then", {"shoot"}}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(create_action("stop", {{"grase", {"5s"}}}).status().code(), Code::kInvalidArgument);
}

// A process that holds the lock of a worker's journal, as a hook does, and never answers.
class Trainer {
 public:
  enum class Manner { kDiesOfSigterm, kIgnoresSigterm, kHoldsNothing };

  Trainer(const std::filesystem::path& run, const std::string& worker, Manner manner) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) train(run, worker, manner, ready[1]);
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);  // nothing when it could not get the lock
    ::close(ready[0]);
  }
  ~Trainer() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    end();
  }
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  pid_t id() const { return pid_; }
  bool is_alive() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }
  int end() {  // the signal that ended it, else 0
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  [[noreturn]] static void train(const std::filesystem::path& run, const std::string& worker, Manner manner,
                                 int ready) {
    ::signal(SIGTERM, manner == Manner::kIgnoresSigterm ? SIG_IGN : SIG_DFL);
    const auto storage = storage::open_local_storage(run);
    const auto lock = manner == Manner::kHoldsNothing
                          ? Result<std::unique_ptr<storage::Lock>>(std::unique_ptr<storage::Lock>())
                          : storage->lock("journal/" + worker + "/writer.lock");
    if (!lock.ok() || ::write(ready, "x", 1) != 1) ::_exit(9);
    while (true) ::pause();
  }

  pid_t pid_ = -1;
};

class StopProcessesTest : public ::testing::Test {
 protected:
  StopProcessesTest() {
    for (const char* worker : {"rank-00000", "rank-00001", "watch-0"}) {
      EXPECT_TRUE(storage_->create_folder(std::string("journal/") + worker).ok());
    }
  }

  ActionOutcome stop(Then then, std::chrono::milliseconds term_grace = 10s) {
    const auto action =
        make_stop_action({.grace = 20ms, .then = then, .term_grace = term_grace},
                         {.name = "first",
                          .path = folder_.path(),
                          .storage = storage_.get(),
                          .answer_to = [this](const format::RequestId&) { return Result<RunAnswer>(answer_); }});
    return action->run(sample_notice(), {});
  }
  std::string lock_path(const std::string& worker) const {
    return (folder_.path() / "journal" / worker / "writer.lock").string();
  }

  TestFolder folder_;
  std::unique_ptr<storage::Storage> storage_ = storage::open_local_storage(folder_.path());
  RunAnswer answer_;
};

TEST_F(StopProcessesTest, WithoutForceNobodyIsSignalled) {
  const Trainer trainer(folder_.path(), "rank-00000", Trainer::Manner::kDiesOfSigterm);
  EXPECT_EQ(stop(Then::kNothing).kind, Kind::kTryAgain);
  EXPECT_TRUE(trainer.is_alive());
}

TEST_F(StopProcessesTest, SigtermAfterTheGrace) {
  Trainer trainer(folder_.path(), "rank-00000", Trainer::Manner::kDiesOfSigterm);
  const ActionOutcome outcome = stop(Then::kTerm);
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_EQ(outcome.answer, "the training did not answer within 20.0 ms; SIGTERM to process " +
                                std::to_string(trainer.id()) + " (rank-00000); it has ended");
  EXPECT_EQ(trainer.end(), SIGTERM);
}

TEST_F(StopProcessesTest, SigtermOnlyIsGivenUpWhenItIsIgnored) {
  const Trainer trainer(folder_.path(), "rank-00000", Trainer::Manner::kIgnoresSigterm);
  const ActionOutcome outcome = stop(Then::kTerm, 50ms);
  EXPECT_EQ(outcome.kind, Kind::kGiveUp);
  EXPECT_EQ(outcome.status.code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(has_text(outcome.status.message(), "SIGTERM to process")) << outcome.status.message();
  EXPECT_TRUE(has_text(outcome.status.message(), "it has not ended within 50.0 ms of that"))
      << outcome.status.message();
  EXPECT_TRUE(trainer.is_alive());
}

TEST_F(StopProcessesTest, SigkillInTheEnd) {
  Trainer trainer(folder_.path(), "rank-00000", Trainer::Manner::kIgnoresSigterm);
  const ActionOutcome outcome = stop(Then::kKill, 50ms);
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_TRUE(has_text(outcome.answer, "SIGTERM to process")) << outcome.answer;
  EXPECT_TRUE(has_text(outcome.answer, "SIGKILL to process")) << outcome.answer;
  EXPECT_EQ(trainer.end(), SIGKILL);
}

TEST_F(StopProcessesTest, WhoHasAnsweredAndDoesNotEndIsSignalledToo) {
  Trainer trainer(folder_.path(), "rank-00000", Trainer::Manner::kDiesOfSigterm);
  answer_.accepted = true;
  const ActionOutcome outcome = stop(Then::kTerm, 50ms);
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_TRUE(has_text(outcome.answer, "stopping already; it has not ended within 50.0 ms of its answer; SIGTERM to"))
      << outcome.answer;
  EXPECT_EQ(trainer.end(), SIGTERM);
}

TEST_F(StopProcessesTest, AllWorkersAreSignalledAndNobodyElse) {
  Trainer first(folder_.path(), "rank-00000", Trainer::Manner::kDiesOfSigterm);
  Trainer second(folder_.path(), "rank-00001", Trainer::Manner::kDiesOfSigterm);
  const Trainer engine(folder_.path(), "watch-0", Trainer::Manner::kDiesOfSigterm);
  EXPECT_EQ(stop(Then::kTerm).kind, Kind::kDone);
  EXPECT_EQ(first.end(), SIGTERM);
  EXPECT_EQ(second.end(), SIGTERM);
  EXPECT_TRUE(engine.is_alive());
}

// The run's process is long gone, and the system has given its number to another one.
TEST_F(StopProcessesTest, AProcessThatGotTheNumberOfADeadWorkerIsLeftAlone) {
  const Trainer innocent(folder_.path(), "", Trainer::Manner::kHoldsNothing);
  std::ofstream(lock_path("rank-00000")) << innocent.id() << "\n";
  EXPECT_TRUE(living_workers(*storage_).empty());
  const ActionOutcome outcome = stop(Then::kKill, 20ms);
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.status.message();
  EXPECT_TRUE(innocent.is_alive());
}

// As it is with a worker on another machine that shares the folder: the lock is held, and the number is one of there.
TEST_F(StopProcessesTest, AProcessWithTheNumberOfAWorkerElsewhereIsLeftAlone) {
  const Trainer innocent(folder_.path(), "", Trainer::Manner::kHoldsNothing);
  const auto lock = storage_->lock("journal/rank-00000/writer.lock");
  ASSERT_TRUE(lock.ok());
  std::ofstream(lock_path("rank-00000"), std::ios::in | std::ios::trunc) << innocent.id() << "\n";
  const ActionOutcome outcome = stop(Then::kKill, 20ms);
  EXPECT_EQ(outcome.kind, Kind::kTryAgain);
  EXPECT_TRUE(has_text(outcome.status.message(), "no SIGTERM: rank-00000 is not a process of this machine"))
      << outcome.status.message();
  EXPECT_TRUE(innocent.is_alive());
}

TEST_F(StopProcessesTest, OfSeveralWorkersThoseOfThisMachineAreSignalled) {
  const Trainer innocent(folder_.path(), "", Trainer::Manner::kHoldsNothing);
  Trainer here(folder_.path(), "rank-00001", Trainer::Manner::kDiesOfSigterm);
  auto elsewhere = std::move(storage_->lock("journal/rank-00000/writer.lock")).value();
  std::ofstream(lock_path("rank-00000"), std::ios::in | std::ios::trunc) << innocent.id() << "\n";
  const ActionOutcome outcome = stop(Then::kTerm, 50ms);
  EXPECT_EQ(outcome.kind, Kind::kGiveUp);  // the other one goes on
  EXPECT_TRUE(has_text(outcome.status.message(), "no SIGTERM: rank-00000 is not")) << outcome.status.message();
  EXPECT_TRUE(has_text(outcome.status.message(), "(rank-00001)")) << outcome.status.message();
  EXPECT_EQ(here.end(), SIGTERM);
  EXPECT_TRUE(innocent.is_alive());
}

TEST_F(StopProcessesTest, WeDoNotSignalOurselves) {
  const auto lock = storage_->lock("journal/rank-00000/writer.lock");
  ASSERT_TRUE(lock.ok());
  const ActionOutcome outcome = stop(Then::kKill, 20ms);
  EXPECT_EQ(outcome.kind, Kind::kTryAgain);
  EXPECT_TRUE(has_text(outcome.status.message(), "rank-00000: it is this process itself")) << outcome.status.message();
}

TEST_F(StopProcessesTest, AWorkerThatHasEndedSinceItWasSeenIsNotSignalled) {
  const Trainer innocent(folder_.path(), "", Trainer::Manner::kHoldsNothing);
  std::ofstream(lock_path("rank-00000")) << innocent.id() << "\n";
  const Status sent = signal_worker(*storage_, {"rank-00000", innocent.id()}, SIGKILL);
  EXPECT_EQ(sent.code(), Code::kNotFound);
  EXPECT_TRUE(innocent.is_alive());
}

}  // namespace
}  // namespace trainwarden::actions
