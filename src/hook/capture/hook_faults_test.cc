// What goes wrong must never harm the training: full memory, full disks, storage that fails at any call.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <thread>

#include "core/base/clock.h"
#include "core/base/folder_testing.h"
#include "core/base/log.h"
#include "hook/capture/capture_plan.h"
#include "hook/capture/capture_session.h"
#include "hook/capture/capture_testing.h"
#include "hook/capture/open_hook.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::capture {
namespace {

constexpr std::size_t kStagingBytes = std::size_t{1} << 20;

// Values that name the step they belong to.
std::vector<float> values_of(std::int64_t step, std::size_t count = 16) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(step) * 1000.0f + static_cast<float>(i);
  return values;
}

class QuietTest : public testing::Test {
 protected:
  QuietTest() {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  ~QuietTest() override { set_log_sink(nullptr); }
};

// A session whose writer waits on request, so that the staging area fills.
class FullStagingTest : public QuietTest {
 protected:
  ~FullStagingTest() override { journal_.release(); }

  std::unique_ptr<CaptureSession> session(WhenFull when_full, KeepForm keep = KeepForm::whole()) {
    HookOptions options = keep_all_of("x");
    options.when_full = when_full;
    options.keep = keep;
    options.staging_bytes = kStagingBytes;
    CaptureSession::Parts parts{
        .plan = *CapturePlan::resolve(options),
        .journal = journal_.create(),
        .stop_requests = StopRequests(nullptr, {}),
        .changes = std::make_unique<CaptureChanges>(nullptr, options, std::set<std::string>()),
        .checkpoints = std::make_unique<CheckpointRequests>(nullptr, options, EarlierCheckpoints(), system_clock()),
        .profiles = std::make_unique<ProfileRequests>(nullptr, std::set<std::string>()),
        .examinations = std::make_unique<ExamineRequests>(nullptr),
        .storage = nullptr,
        .clock = system_clock(),
        .counter = counter_};
    return *CaptureSession::start(options, std::move(parts));
  }
  // A step that takes the whole area and is stuck with the writer.
  void fill(CaptureSession& session) {
    journal_.hold();
    session.saves().save_tensor("x", view_of(large_));
    session.end_step();
    journal_.wait_until_held();
  }

  const std::vector<float> large_ = values_of(0, kStagingBytes / sizeof(float));
  const std::vector<float> small_ = values_of(1);
  StepCounter counter_;
  FakeJournal journal_;
};

TEST_F(FullStagingTest, DropCountsAndGoesOn) {
  const auto session = this->session(WhenFull::kDrop);
  fill(*session);
  session->saves().save_tensor("x", view_of(small_));
  session->saves().save_scalar("s", 1);
  session->end_step();
  const HookReport report = session->report();
  EXPECT_EQ(lost(report, LossCause::kStagingFull), 1u);
  EXPECT_EQ(report.losses.at(0).bytes, small_.size() * sizeof(float));
  EXPECT_NE(report.losses.at(0).first_message.find("raise staging_bytes"), std::string::npos);
  journal_.release();
  EXPECT_TRUE(session->flush(std::chrono::seconds(30)).ok());
  session->saves().save_tensor("x", view_of(small_));
  session->end_step();
  EXPECT_TRUE(session->close(std::chrono::seconds(30)).ok());
  const auto batches = journal_.batches();
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_TRUE(batches[1].tensors.empty());
  EXPECT_EQ(batches[1].scalars.size(), 1u) << "there is always room for a scalar";
  EXPECT_EQ(batches[1].losses.at(0).cause, "staging_full");
  EXPECT_EQ(batches[1].losses.at(0).count, 1u);
  EXPECT_EQ(batches[2].tensors.size(), 1u) << "there is room again";
}

TEST_F(FullStagingTest, StatisticsTakeThePlaceOfValues) {
  const auto session = this->session(WhenFull::kStatistics);
  fill(*session);
  session->saves().save_tensor("x", view_of(small_));
  session->end_step();
  EXPECT_EQ(lost(session->report(), LossCause::kStagingFull), 1u);
  journal_.release();
  EXPECT_TRUE(session->close(std::chrono::seconds(30)).ok());
  const auto batches = journal_.batches();
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_TRUE(batches[1].tensors.empty());
  ASSERT_EQ(batches[1].statistics.size(), 1u);
  EXPECT_EQ(batches[1].statistics[0].statistics.count, small_.size());
}

TEST_F(FullStagingTest, BlockWaitsForTheWriter) {
  const auto session = this->session(WhenFull::kBlock);
  fill(*session);
  {
    const std::jthread training([&] {
      session->saves().save_tensor("x", view_of(large_));
      session->end_step();
    });
    journal_.release();
  }
  EXPECT_TRUE(session->close(std::chrono::seconds(30)).ok());
  EXPECT_TRUE(session->report().losses.empty());
  EXPECT_EQ(journal_.batches().size(), 2u);
}

// Waiting for a step that cannot end meanwhile would be waiting forever. The thread is another than that which drives
// training, since that one hands over parts of its step.
TEST_F(FullStagingTest, BlockDoesNotWaitForItsOwnStep) {
  const auto session = this->session(WhenFull::kBlock);
  std::thread([&] {
    session->saves().save_tensor("x", view_of(large_));
    session->saves().save_tensor("x", view_of(small_));
  }).join();
  session->end_step();
  EXPECT_EQ(lost(session->report(), LossCause::kStagingFull), 1u);
  EXPECT_TRUE(session->close(std::chrono::seconds(30)).ok());
}

TEST_F(FullStagingTest, LargerThanTheWholeArea) {
  const std::vector<float> huge(large_.size() + 1);
  for (const WhenFull when_full : {WhenFull::kDrop, WhenFull::kStatistics, WhenFull::kBlock}) {
    const auto session = this->session(when_full);
    session->saves().save_tensor("x", view_of(huge));
    session->end_step();
    EXPECT_EQ(lost(session->report(), LossCause::kTooLarge), 1u);
    EXPECT_TRUE(session->close(std::chrono::seconds(30)).ok());
    EXPECT_EQ(journal_.batches().back().statistics.size(), when_full == WhenFull::kStatistics ? 1u : 0u);
  }
}

TEST_F(FullStagingTest, TooManyWaitingStepsAreLostWhole) {
  const auto session = this->session(WhenFull::kDrop);
  journal_.hold();
  session->saves().save_scalar("s", 0);
  session->end_step();
  journal_.wait_until_held();
  for (std::size_t i = 0; i < StepWriter::kMaxWaitingSteps + 3; ++i) {
    session->saves().save_scalar("s", 1);
    session->end_step();
  }
  EXPECT_EQ(lost(session->report(), LossCause::kStagingFull), 3u);
  journal_.release();
  EXPECT_TRUE(session->close(std::chrono::seconds(30)).ok());
  const auto batches = journal_.batches();
  EXPECT_EQ(batches.size(), StepWriter::kMaxWaitingSteps + 2) << "the last one only has the losses";
  EXPECT_EQ(batches.back().losses.at(0).count, 3u);
}

TEST_F(FullStagingTest, CloseWakesASaverThatWaits) {
  const auto session = this->session(WhenFull::kBlock);
  fill(*session);
  std::jthread saver([&] { session->saves().save_tensor("x", view_of(large_)); });
  EXPECT_EQ(session->close(std::chrono::milliseconds(20)).code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(session->stuck());
  saver.join();
  journal_.release();  // now the thread can end, and the session may be destroyed after all
}

// A disk that is full for a while.
TEST_F(QuietTest, DiskFullAndSpaceAgain) {
  const auto memory = storage::create_memory_storage();
  const auto faulty = storage::create_faulty_storage(*memory);
  const auto hook = open_hook_on(*faulty, keep_all_of("x"));
  std::set<std::int64_t> acknowledged;
  const auto train = [&] {
    const std::int64_t step = hook->global_step();
    hook->save_tensor("x", view_of(values_of(step)));
    hook->end_step();
    const Status status = hook->flush();
    if (status.ok()) acknowledged.insert(step);
    return status;
  };
  EXPECT_TRUE(train().ok());
  faulty->set_plan({.fail_call = 0, .fail_all_after = true, .code = Code::kResourceExhausted, .short_write = true});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(train().code(), Code::kResourceExhausted);
  faulty->set_plan({});
  while (!train().ok()) continue;  // the journal tries again after a while
  EXPECT_TRUE(train().ok());
  const std::uint64_t steps = static_cast<std::uint64_t>(hook->global_step());
  EXPECT_EQ(lost(hook->report(), LossCause::kWriteFailed) + acknowledged.size(), steps);
  EXPECT_TRUE(hook->close().ok());

  const ReadRun run = read_run(*memory);
  std::set<std::int64_t> readable;
  for (const ReadStep& step : run.steps) {
    readable.insert(step.entry.global_step);
    EXPECT_EQ(floats_of(step.values.at("x")), values_of(step.entry.global_step));
  }
  EXPECT_EQ(readable, acknowledged);
  EXPECT_EQ(run.lost("write_failed") + acknowledged.size(), steps);
}

// One run of a program in which the n-th call to the storage fails.
struct FaultRound {
  bool opened = false;
  std::set<std::int64_t> acknowledged;
  HookReport report;
};

FaultRound train_with_fault(storage::MemoryStorage& memory, const storage::FaultPlan& plan) {
  FaultRound round;
  const auto faulty = storage::create_faulty_storage(memory);
  faulty->set_plan(plan);
  HookOptions options = keep_all_of("x");
  options.segment_bytes = 4096;  // rolls often
  options.durability = Durability::kStep;
  auto hook = HookOpener::open(options, borrowed(*faulty), system_clock());
  round.opened = hook.ok();
  if (!hook.ok()) return round;
  for (std::int64_t step = 0; step < 12; ++step) {
    (*hook)->save_tensor("x", view_of(values_of(step)));
    (*hook)->save_scalar("s", static_cast<double>(step));
    (*hook)->end_step();
    if ((*hook)->flush().ok()) round.acknowledged.insert(step);
  }
  static_cast<void>((*hook)->close());
  round.report = (*hook)->report();
  return round;
}

void check_round(const storage::MemoryStorage& memory, const FaultRound& round) {
  if (!round.opened) return;
  const ReadRun run = read_run(memory);
  std::set<std::int64_t> readable;
  for (const ReadStep& step : run.steps) {
    if (step.values.empty()) continue;  // only has losses
    readable.insert(step.entry.global_step);
    EXPECT_EQ(floats_of(step.values.at("x")), values_of(step.entry.global_step));
    EXPECT_EQ(step.scalars.at("s"), static_cast<double>(step.entry.global_step));
  }
  for (const std::int64_t step : round.acknowledged) EXPECT_TRUE(readable.contains(step)) << step;
  EXPECT_EQ(round.acknowledged.size() * 2 + lost(round.report, LossCause::kWriteFailed), 24u)
      << "what was not acknowledged was counted";
}

// Under a sanitizer every third call: all of them would take a minute.
#if defined(TW_SANITIZED)
constexpr std::int64_t kCallStride = 3;
#else
constexpr std::int64_t kCallStride = 1;
#endif

TEST_F(QuietTest, TheNthCallFailsOnce) {
  std::int64_t opened = 0;
  for (const bool short_write : {false, true}) {
    for (std::int64_t n = 0; n < 120; n += kCallStride) {
      SCOPED_TRACE(n);
      const auto memory = storage::create_memory_storage();
      const FaultRound round = train_with_fault(*memory, {.fail_call = n, .short_write = short_write});
      check_round(*memory, round);
      if (round.opened) ++opened;
    }
  }
  EXPECT_GT(opened * kCallStride, 100);
}

TEST_F(QuietTest, EverythingFailsFromTheNthCallOn) {
  for (std::int64_t n = 0; n < 80; n += kCallStride) {
    SCOPED_TRACE(n);
    const auto memory = storage::create_memory_storage();
    const FaultRound round =
        train_with_fault(*memory, {.fail_call = n, .fail_all_after = true, .code = Code::kPermissionDenied});
    check_round(*memory, round);
  }
}

TEST_F(QuietTest, AReadOnlyStorageIsAClearErrorAtOpen) {
  const auto memory = storage::create_memory_storage();
  const auto faulty = storage::create_faulty_storage(*memory);
  faulty->set_plan({.fail_call = 0, .fail_all_after = true, .code = Code::kPermissionDenied});
  const auto hook = HookOpener::open(HookOptions(), borrowed(*faulty), system_clock());
  EXPECT_EQ(hook.status().code(), Code::kPermissionDenied);
}

// The file system of the kernel itself: root may write where others may not, but not here.
TEST_F(QuietTest, AFolderThatIsAFileIsAClearErrorAtOpen) {
  const TestFolder folder;
  const std::filesystem::path file = folder.path() / "file";
  { const std::unique_ptr<std::FILE, int (*)(std::FILE*)> made(std::fopen(file.c_str(), "w"), &std::fclose); }
  HookOptions options;
  options.run_dir = file;
  const auto hook = Hook::open(options);
  std::filesystem::remove(file);
  ASSERT_FALSE(hook.ok());
  EXPECT_NE(hook.status().message().find(file.string()), std::string::npos) << hook.status().to_string();
}

// With little room, for which it waits.
std::unique_ptr<Hook> open_waiting_hook_on(storage::Storage& storage) {
  HookOptions options = keep_all_of("^x");
  options.when_full = WhenFull::kBlock;
  options.staging_bytes = kStagingBytes;
  return open_hook_on(storage, std::move(options));
}

// What is written makes room for the rest of the step: who waits loses nothing.
TEST_F(QuietTest, AStepLargerThanTheStagingAreaIsKeptByWhoWaits) {
  const auto storage = storage::create_memory_storage();
  const auto hook = open_waiting_hook_on(*storage);
  constexpr std::size_t kCount = 20'000;
  for (std::int64_t step = 0; step < 2; ++step) {
    hook->save_scalar("before", 1);
    for (int i = 0; i < 40; ++i) hook->save_tensor("x" + std::to_string(i), view_of(values_of(step + i, kCount)));
    hook->save_scalar("after", 2);
    hook->end_step();
  }
  ASSERT_TRUE(hook->close().ok());
  EXPECT_TRUE(hook->report().losses.empty());
  EXPECT_EQ(hook->report().kept_tensors, 80u);
  const ReadRun run = read_run(*storage);
  ASSERT_EQ(run.steps.size(), 2u);
  for (std::int64_t step = 0; step < 2; ++step) {
    const ReadStep& seen = run.steps[static_cast<std::size_t>(step)];
    EXPECT_EQ(seen.scalars.size(), 2u);
    ASSERT_EQ(seen.values.size(), 40u);
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ(floats_of(seen.values.at("x" + std::to_string(i))), values_of(step + i, kCount));
    }
  }
}

// Steps that go to the writer in parts change their mode between steps only.
TEST_F(QuietTest, AStepInPartsEndsBeforeItsModeChanges) {
  const auto storage = storage::create_memory_storage();
  const auto hook = open_waiting_hook_on(*storage);
  hook->set_mode(Mode::kTrain);
  hook->save_tensor("x", view_of(values_of(0, kStagingBytes / 2 / sizeof(float))));
  hook->set_mode(Mode::kEval);
  hook->save_tensor("x", view_of(values_of(1)));
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  const ReadRun run = read_run(*storage);
  ASSERT_EQ(run.steps.size(), 2u);
  EXPECT_EQ(run.steps[0].entry.mode, Mode::kTrain);
  EXPECT_EQ(run.steps[0].values.size(), 1u);
  EXPECT_EQ(run.steps[1].entry.mode, Mode::kEval);
}

}  // namespace
}  // namespace trainwarden::capture
