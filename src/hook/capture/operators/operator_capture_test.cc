// Which steps of a hook are recorded, by its options and by request, and what the run says of it.
#include "hook/capture/operators/operator_capture.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/base/log.h"
#include "hook/capture/capture_session.h"
#include "hook/capture/capture_testing.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::capture {
namespace {

class OperatorCaptureTest : public testing::Test {
 protected:
  OperatorCaptureTest() {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  ~OperatorCaptureTest() override {
    journal_.release();
    set_log_sink(nullptr);
  }

  void start(OperatorWindow window, std::int64_t first_global_step = 0) {
    HookOptions options = keep_all_of("x");
    options.operators = window;
    options.first_global_step = first_global_step;
    counter_.start_at(first_global_step, {});
    session_ = *CaptureSession::start(
        options,
        {.plan = *CapturePlan::resolve(options),
         .journal = journal_.create(),
         .stop_requests = StopRequests(nullptr, {}),
         .changes = std::make_unique<CaptureChanges>(nullptr, options, std::set<std::string>()),
         .checkpoints = std::make_unique<CheckpointRequests>(nullptr, options, EarlierCheckpoints(), system_clock()),
         .profiles = std::make_unique<ProfileRequests>(borrowed(*storage_), std::set<std::string>()),
         .examinations = std::make_unique<ExamineRequests>(nullptr),
         .storage = nullptr,
         .clock = system_clock(),
         .counter = counter_});
  }
  void train_steps(int steps, bool idle = false) {
    for (int step = 0; step < steps; ++step) {
      OperatorRecorder& recorder = session_->operators().recorder();
      recorder.begin(this, "aten::mm", OperatorKind::kOperator);
      recorder.end(this);
      if (!idle || !session_->end_idle_step()) session_->end_step();
    }
  }
  // Before start(): that one looks.
  void put(const std::string& key, std::int64_t first_step, std::int64_t steps) {
    const format::ProfileRequest request{.key = key, .first_step = first_step, .steps = steps, .requested_by = "test"};
    ASSERT_TRUE(storage_->create_folder(format::kControlFolder).ok());
    ASSERT_TRUE(
        storage_->put_if_absent(format::profile_request_path(key), as_bytes(format::encode_profile_request(request)))
            .ok());
  }
  // Until the writer thread has seen it.
  void ask(const std::string& key, std::int64_t first_step, std::int64_t steps) {
    put(key, first_step, steps);
    while (!session_->operators().requests().any_accepted()) std::this_thread::yield();
  }
  // The writer has written what was handed over.
  void close() { ASSERT_TRUE(session_->close(std::chrono::seconds(30)).ok()); }
  std::vector<std::int64_t> recorded_steps() const {
    std::vector<std::int64_t> steps;
    for (const OperatorBatch& batch : journal_.operators()) {
      EXPECT_EQ(batch.calls.size(), 1u);
      steps.push_back(batch.global_step);
    }
    return steps;
  }
  std::vector<format::ProfileEvent> answers() const {
    std::vector<format::ProfileEvent> answers;
    for (const std::string& json : journal_.events()) {
      const auto event = format::decode_profile_event(json);
      if (event.ok() && event->has_value()) answers.push_back(**event);
    }
    return answers;
  }

  using Steps = std::vector<std::int64_t>;
  const std::unique_ptr<storage::Storage> storage_ = storage::create_memory_storage();
  FakeJournal journal_;
  StepCounter counter_;
  std::unique_ptr<CaptureSession> session_;
};

TEST_F(OperatorCaptureTest, RecordsNothingUnlessAsked) {
  start({});
  train_steps(20);
  close();
  EXPECT_TRUE(recorded_steps().empty());
}

TEST_F(OperatorCaptureTest, RecordsTheWindow) {
  start({.first_step = 5, .steps = 3});
  train_steps(20);
  EXPECT_GE(session_->report().bill.capture_ns, 3 * 200);
  close();
  EXPECT_EQ(recorded_steps(), (Steps{5, 6, 7}));
  EXPECT_EQ(session_->report().operator_calls, 3u);
}

TEST_F(OperatorCaptureTest, EndsAWindowWithTheStepThatHasTooManyCalls) {
  start({.first_step = 1, .steps = 10, .max_calls = 3 * CallLog::kPieceCalls});
  const auto train_step = [&](std::size_t calls) {
    OperatorRecorder& recorder = session_->operators().recorder();
    for (std::size_t i = 0; i < calls; ++i) {
      recorder.begin(&i, "aten::mm", OperatorKind::kOperator);
      recorder.end(&i);
    }
    session_->end_step();
  };
  train_step(1);
  train_step(CallLog::kPieceCalls);      // whole
  train_step(5 * CallLog::kPieceCalls);  // its beginning would show what no step is
  EXPECT_FALSE(session_->operators().is_recording());
  train_step(1);
  close();
  const auto batches = journal_.operators();
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].calls.size(), CallLog::kPieceCalls);
  EXPECT_EQ(batches[0].lost_calls, 0u);
  EXPECT_EQ(batches[1].global_step, 2);
  EXPECT_TRUE(batches[1].calls.empty());
  EXPECT_EQ(batches[1].lost_calls, 5 * CallLog::kPieceCalls);
}

TEST_F(OperatorCaptureTest, KeepsTheBeginningOfAStepThatAloneHasTooManyCalls) {
  start({.first_step = 0, .steps = 10, .max_calls = CallLog::kPieceCalls});
  OperatorRecorder& recorder = session_->operators().recorder();
  for (std::size_t i = 0; i < CallLog::kPieceCalls + 9; ++i) {
    EXPECT_EQ(session_->operators().wants_calls(), i <= CallLog::kPieceCalls);
    recorder.begin(&i, "aten::mm", OperatorKind::kOperator);
    recorder.end(&i);
  }
  session_->end_step();
  EXPECT_FALSE(session_->operators().wants_calls());
  close();
  ASSERT_EQ(journal_.operators().size(), 1u);
  EXPECT_EQ(journal_.operators()[0].calls.size(), CallLog::kPieceCalls);
  EXPECT_EQ(journal_.operators()[0].lost_calls, 9u);
}

TEST_F(OperatorCaptureTest, CountsFromWhereTheProcessBegins) {
  start({.first_step = 0, .steps = 2}, 100);
  train_steps(5);
  close();
  EXPECT_EQ(recorded_steps(), (Steps{100, 101}));
}

TEST_F(OperatorCaptureTest, AnIdleStepIsNoneInTheWindow) {
  start({.first_step = 2, .steps = 2});
  train_steps(6, true);
  close();
  EXPECT_EQ(recorded_steps(), (Steps{2, 3}));
}

TEST_F(OperatorCaptureTest, TheLastStepNeedNotEnd) {
  start({.first_step = 1, .steps = 9});
  train_steps(1);
  session_->operators().recorder().begin(this, "aten::mm", OperatorKind::kOperator);
  session_->operators().recorder().end(this);
  close();
  EXPECT_EQ(recorded_steps(), Steps{1});
  EXPECT_FALSE(session_->operators().is_recording());
}

TEST_F(OperatorCaptureTest, WhatCannotBeWrittenIsCounted) {
  start({.first_step = 0, .steps = 1});
  journal_.fail_with(Status(Code::kUnavailable, "no disk"));
  train_steps(1);
  ASSERT_FALSE(session_->flush(std::chrono::seconds(30)).ok());
  EXPECT_EQ(lost(session_->report(), LossCause::kWriteFailed), 1u);
  journal_.fail_with(Status());
  close();
}

TEST_F(OperatorCaptureTest, AHookThatIsSwitchedOffRecordsNothingMore) {
  start({.first_step = 0, .steps = 9});
  train_steps(2);
  session_->switch_off("a fault");
  EXPECT_FALSE(session_->operators().is_recording());
  train_steps(2);
  close();
  EXPECT_EQ(recorded_steps(), (Steps{0, 1}));
}

TEST_F(OperatorCaptureTest, ARequestIsAnsweredWhenItIsTakenAndWhenItIsDone) {
  start({});
  train_steps(2, true);
  ask("k", 4, 2);
  train_steps(6, true);
  close();
  EXPECT_EQ(recorded_steps(), (Steps{4, 5}));
  const auto said = answers();
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0], (format::ProfileEvent{.key = "k", .first_step = 4, .steps = 2, .global_step = 3}));
  EXPECT_EQ(said[1], (format::ProfileEvent{.state = format::ProfileState::kFinished,
                                           .key = "k",
                                           .first_step = 4,
                                           .steps = 2,
                                           .global_step = 6,
                                           .calls = 2}));
}

TEST_F(OperatorCaptureTest, WhoIsBeyondTheStepBeginsWithTheNext) {
  start({});
  train_steps(5);
  ask("k", 2, 1);
  train_steps(3);
  close();
  EXPECT_EQ(recorded_steps(), Steps{6});
  ASSERT_EQ(answers().size(), 2u);
  EXPECT_EQ(answers()[1].first_step, 6);
}

TEST_F(OperatorCaptureTest, WindowsMayOverlap) {
  put("k", 3, 3);
  start({.first_step = 1, .steps = 3});
  train_steps(10);
  close();
  EXPECT_EQ(recorded_steps(), (Steps{1, 2, 3, 4, 5}));
  ASSERT_EQ(answers().size(), 2u);
  EXPECT_EQ(answers()[1].calls, 3);
}

TEST_F(OperatorCaptureTest, ATrainingThatEndsEarlySaysSo) {
  put("begun", 1, 10);
  put("never", 50, 10);
  start({});
  train_steps(4);
  ask("late", -1, 1);
  close();
  const auto said = answers();
  ASSERT_EQ(said.size(), 6u) << testing::PrintToString(journal_.events());
  EXPECT_EQ(said[3].key, "begun");
  EXPECT_EQ(said[3].state, format::ProfileState::kFinished);
  EXPECT_EQ(said[3].steps, 3);
  EXPECT_EQ(said[4].key, "never");
  EXPECT_EQ(said[4].state, format::ProfileState::kRefused);
  EXPECT_EQ(said[4].error, "the training ended before the first of these steps");
  EXPECT_EQ(said[5].key, "late");
  EXPECT_EQ(said[5].state, format::ProfileState::kRefused);
}

TEST_F(OperatorCaptureTest, TooManyRequestsAreRefused) {
  for (std::size_t i = 0; i <= OperatorWindows::kMaxWindows; ++i) put(std::to_string(i), 1'000'000, 1);
  start({});
  train_steps(1);
  ASSERT_TRUE(session_->flush(std::chrono::seconds(30)).ok());
  close();
  std::size_t refused = 0;
  for (const auto& said : answers()) {
    if (said.error == "too many requests wait for their steps") ++refused;
  }
  EXPECT_EQ(refused, 1u);
}

}  // namespace
}  // namespace trainwarden::capture
