// Tensors that the host cannot read, on a GPU that does what the test says.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "data/device/fake_accelerator.h"
#include "hook/capture/capture_testing.h"
#include "hook/capture/open_hook.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::capture {
namespace {

constexpr Device kFirstGpu{DeviceType::kCuda, 0};

std::vector<float> numbers(std::size_t count, float first = 1) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TensorView on_gpu(const std::vector<float>& values) {
  return TensorView::of(values.data(), DType::kFloat32, {static_cast<std::int64_t>(values.size())}, kFirstGpu);
}

class HookDeviceTest : public ::testing::Test {
 protected:
  HookDeviceTest() {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  ~HookDeviceTest() override {
    gpu_.release();
    hook_.reset();
    set_log_sink(nullptr);
  }

  void open(HookOptions options) {
    hook_ = *HookOpener::open(std::move(options), borrowed(*storage_), system_clock(), gpu_.factory());
  }
  void open(KeepForm keep, WhenFull when_full = WhenFull::kDrop) {
    HookOptions options = keep_all_of("x");
    options.keep = keep;
    options.when_full = when_full;
    open(std::move(options));
  }
  ReadRun close_and_read() {
    EXPECT_TRUE(hook_->close().ok());
    return read_run(*storage_);
  }

  std::unique_ptr<storage::Storage> storage_ = storage::create_memory_storage();
  device::FakeGpu gpu_;
  std::unique_ptr<Hook> hook_;
};

Statistics cpu_statistics(const std::vector<float>& values, StatisticsOptions options = {}) {
  return compute_statistics(view_of(values), options).value();
}

TEST_F(HookDeviceTest, ValuesAndStatisticsAreThoseOfTheCpu) {
  open(KeepForm{.values = true, .statistics = true});
  const std::vector<float> values = numbers(1000);
  hook_->save_tensor("x", on_gpu(values));
  hook_->end_step();
  const ReadRun run = close_and_read();
  ASSERT_EQ(run.steps.size(), 1u);
  EXPECT_EQ(floats_of(run.steps[0].values.at("x")), values);
  EXPECT_EQ(run.steps[0].statistics.at("x").statistics, cpu_statistics(values));
  EXPECT_TRUE(hook_->report().losses.empty());
}

TEST_F(HookDeviceTest, StatisticsAloneMoveNoValues) {
  open(KeepForm::reduced());
  const std::vector<float> values = numbers(100000);
  hook_->save_tensor("x", on_gpu(values));
  hook_->end_step();
  const ReadRun run = close_and_read();
  EXPECT_TRUE(run.steps[0].values.empty());
  EXPECT_EQ(run.steps[0].statistics.at("x").statistics, cpu_statistics(values));
  EXPECT_EQ(run.steps[0].statistics.at("x").shape, Shape({100000}));
  EXPECT_EQ(gpu_.launches(), 1);
}

TEST_F(HookDeviceTest, NothingIsWaitedForUntilTheRunIsFlushed) {
  open(KeepForm{.values = true, .statistics = true});
  std::vector<float> values(50, 0);
  gpu_.hold_all();
  for (float step = 0; step < 5; ++step) {
    gpu_.queue(nullptr, [&values, step] { std::iota(values.begin(), values.end(), step); });
    hook_->save_tensor("x", on_gpu(values));
    hook_->end_step();
  }
  EXPECT_EQ(hook_->flush(std::chrono::milliseconds(1)).code(), Code::kDeadlineExceeded);
  EXPECT_EQ(hook_->report().kept_tensors, 0u);
  gpu_.release();
  EXPECT_TRUE(hook_->flush().ok());
  const ReadRun run = close_and_read();
  ASSERT_EQ(run.steps.size(), 5u);
  for (std::size_t step = 0; step < 5; ++step) {
    EXPECT_EQ(floats_of(run.steps[step].values.at("x")), numbers(50, static_cast<float>(step)));
  }
}

TEST_F(HookDeviceTest, AGroupIsReadInOneLaunchAndEndStepEndsIt) {
  HookOptions options = keep_all_of("x");
  options.keep = KeepForm::reduced();
  open(options);
  const std::vector<float> values = numbers(100);
  for (int step = 1; step <= 2; ++step) {
    hook_->begin_group();
    for (int i = 0; i < 10; ++i) hook_->save_tensor("x" + std::to_string(i), on_gpu(values));
    if (step == 1) hook_->end_group();
    hook_->end_step();
    EXPECT_EQ(gpu_.launches(), step);
  }
  const ReadRun run = close_and_read();
  ASSERT_EQ(run.steps.size(), 2u);
  EXPECT_EQ(run.steps[0].statistics.size(), 10u);
  EXPECT_EQ(run.steps[1].statistics.at("x9").statistics, cpu_statistics(values));
}

TEST_F(HookDeviceTest, TheStreamOfTheTensorIsTheOneThatItIsReadOn) {
  open(KeepForm::whole());
  const std::vector<float> values = numbers(10);
  TensorView view = on_gpu(values);
  view.stream = gpu_.training_stream(7);
  gpu_.hold(view.stream);
  hook_->save_tensor("x", view);
  hook_->end_step();
  EXPECT_FALSE(hook_->flush(std::chrono::milliseconds(1)).ok());
  gpu_.release();
  EXPECT_EQ(floats_of(close_and_read().steps[0].values.at("x")), values);
}

TEST_F(HookDeviceTest, HistogramAndHashComeFromACopy) {
  open(KeepForm{.values = false, .statistics = true, .histogram = true, .hash = true});
  const std::vector<float> values = numbers(777);
  hook_->save_tensor("x", on_gpu(values));
  hook_->end_step();
  const ReadRun run = close_and_read();
  EXPECT_TRUE(run.steps[0].values.empty());
  EXPECT_EQ(run.steps[0].statistics.at("x").statistics, cpu_statistics(values, {.histogram = true, .hash = true}));
  EXPECT_EQ(gpu_.launches(), 0);
}

TEST_F(HookDeviceTest, WithoutAKernelStatisticsComeFromACopy) {
  gpu_.remove_kernel();
  open(KeepForm::reduced());
  const std::vector<float> values = numbers(777);
  hook_->save_tensor("x", on_gpu(values));
  hook_->end_step();
  EXPECT_EQ(close_and_read().steps[0].statistics.at("x").statistics, cpu_statistics(values));
}

TEST_F(HookDeviceTest, StridedAndEmptyTensors) {
  open(KeepForm{.values = true, .statistics = true});
  const std::vector<float> values = numbers(12);
  const std::array<std::int64_t, 2> shape = {3, 4};
  const std::array<std::int64_t, 2> permuted = {1, 3};
  const std::array<std::int64_t, 2> expanded = {0, 1};
  const std::array<std::int64_t, 1> none = {0};
  const auto strided = [&](std::span<const std::int64_t> strides) {
    return TensorView::strided(values.data(), DType::kFloat32, shape, strides, kFirstGpu).value();
  };
  hook_->save_tensor("x_permuted", strided(permuted));
  hook_->save_tensor("x_expanded", strided(expanded));
  hook_->save_tensor("x_empty", TensorView::of(nullptr, DType::kFloat32, *Shape::from(none), kFirstGpu));
  hook_->end_step();
  const ReadRun run = close_and_read();
  const ReadStep& step = run.steps.at(0);
  EXPECT_EQ(floats_of(step.values.at("x_permuted")), (std::vector<float>{1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12}));
  EXPECT_EQ(floats_of(step.values.at("x_expanded")), (std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(step.statistics.at("x_expanded").statistics.count, 12u);
  EXPECT_EQ(step.statistics.at("x_permuted").statistics, cpu_statistics(values));
  EXPECT_EQ(step.values.at("x_empty").shape, Shape({0}));
}

TEST_F(HookDeviceTest, ADeviceThatCannotBeOpenedIsACountedLoss) {
  gpu_.fail_to_open();
  open(KeepForm::whole());
  const std::vector<float> values = numbers(10);
  for (int i = 0; i < 3; ++i) {
    hook_->save_tensor("x", on_gpu(values));
    hook_->save_scalar("s", 1);
    hook_->end_step();
  }
  const ReadRun run = close_and_read();
  EXPECT_EQ(run.steps.size(), 3u);
  EXPECT_EQ(run.lost("unsupported"), 3u);
  EXPECT_NE(hook_->report().losses.at(0).first_message.find("x: there is no such GPU"), std::string::npos);
}

TEST_F(HookDeviceTest, MemoryThatCannotBePinnedIsACountedLoss) {
  open(KeepForm::whole());
  const std::vector<float> values = numbers(10);
  gpu_.fail_to_pin();
  hook_->save_tensor("x", on_gpu(values));
  hook_->save_scalar("s", 1);
  hook_->end_step();
  const ReadRun run = close_and_read();
  EXPECT_EQ(run.lost("device_failed"), 1u);
  EXPECT_EQ(run.steps.at(0).scalars.size(), 1u);
}

TEST_F(HookDeviceTest, AnEmptyTensorOfAnUnknownDeviceIsALoss) {
  gpu_.fail_to_open();
  open(KeepForm::whole());
  hook_->save_tensor("x", on_gpu({}));
  hook_->save_scalar("s", 1);
  hook_->end_step();
  EXPECT_EQ(close_and_read().lost("unsupported"), 1u);
}

TEST_F(HookDeviceTest, ACallThatTheDriverRefusesLosesItsTensorWithTheCause) {
  for (int n = 1; n <= 8; ++n) {
    SCOPED_TRACE(n);
    storage_ = storage::create_memory_storage();
    open(KeepForm{.values = true, .statistics = true});
    const std::vector<float> values = numbers(100);
    hook_->save_tensor("x", on_gpu(values));
    hook_->end_step();
    ASSERT_TRUE(hook_->flush().ok());
    gpu_.fail_call(n);
    hook_->save_tensor("x", on_gpu(values));
    hook_->save_scalar("s", 1);
    hook_->end_step();
    ASSERT_TRUE(hook_->flush().ok());
    gpu_.fail_call(0);
    hook_->save_tensor("x", on_gpu(values));
    hook_->end_step();
    const ReadRun run = close_and_read();
    ASSERT_EQ(run.steps.size(), 3u);
    EXPECT_EQ(run.lost("device_failed"), n <= 5 ? 1u : 0u);
    EXPECT_EQ(lost(hook_->report(), LossCause::kDeviceFailed), n <= 5 ? 1u : 0u);
    EXPECT_EQ(run.steps[1].values.count("x"), n <= 5 ? 0u : 1u);
    EXPECT_EQ(floats_of(run.steps[2].values.at("x")), values);
  }
}

TEST_F(HookDeviceTest, AGpuThatFailsTakesItsTensorsAndNothingElse) {
  open(KeepForm::reduced());
  const std::vector<float> values = numbers(100);
  gpu_.hold_all();
  hook_->save_tensor("x", on_gpu(values));
  hook_->save_tensor("x_host", view_of(values));
  hook_->end_step();
  gpu_.fail_waits();
  const ReadRun run = close_and_read();
  EXPECT_EQ(run.steps.at(0).statistics.size(), 1u);
  EXPECT_EQ(run.lost("device_failed"), 1u);
  EXPECT_TRUE(hook_->report().losses.at(0).first_message.find("illegal memory access") != std::string::npos);
}

TEST_F(HookDeviceTest, AFullRingOnTheGpuDropsTheTensor) {
  gpu_.set_free_bytes(8 * 4096);
  open(KeepForm::whole());
  const std::vector<float> values = numbers(700);
  gpu_.hold_all();
  hook_->save_tensor("x1", on_gpu(values));
  hook_->save_tensor("x2", on_gpu(values));
  hook_->end_step();
  gpu_.release();
  const ReadRun run = close_and_read();
  EXPECT_EQ(run.steps.at(0).values.size(), 1u);
  EXPECT_EQ(run.lost("staging_full"), 1u);
}

// A ring of 1 MiB, in which the third tensor has no room.
TEST_F(HookDeviceTest, AFullRingMayLeaveStatisticsOrBeWaitedFor) {
  gpu_.set_free_bytes(std::size_t{8} << 20);
  const std::vector<float> filler = numbers((std::size_t{1} << 18) - 1000);
  const std::vector<float> values = numbers(700);
  for (const WhenFull when_full : {WhenFull::kStatistics, WhenFull::kBlock}) {
    SCOPED_TRACE(static_cast<int>(when_full));
    hook_.reset();
    storage_ = storage::create_memory_storage();
    HookOptions options = keep_all_of("x");
    options.when_full = when_full;
    options.staging_bytes = std::size_t{4} << 20;
    open(options);
    gpu_.hold_all();
    hook_->save_tensor("x_filler", on_gpu(filler));
    hook_->save_tensor("x1", on_gpu(values));
    const bool waits = when_full == WhenFull::kBlock;
    std::thread releaser([&] {
      if (waits) gpu_.release();
    });
    hook_->save_tensor("x2", on_gpu(values));
    releaser.join();
    gpu_.release();
    hook_->end_step();
    const ReadRun run = close_and_read();
    const ReadStep& step = run.steps.at(0);
    EXPECT_EQ(run.lost("staging_full"), waits ? 0u : 1u);
    ASSERT_EQ(step.values.size(), waits ? 3u : 2u);
    if (waits) {
      EXPECT_EQ(floats_of(step.values.at("x2")), values);
    } else {
      EXPECT_EQ(step.statistics.at("x2").statistics, cpu_statistics(values));
    }
  }
}

TEST_F(HookDeviceTest, TensorsForWhichTheStepHasNoRoomAreLostOnceTheyWereCopied) {
  constexpr std::size_t kTensors = 2000;  // more than the account of 1 MiB holds
  open(KeepForm::whole());
  const std::vector<float> values = numbers(4);
  gpu_.hold_all();
  for (std::size_t i = 0; i < kTensors; ++i) hook_->save_tensor("x" + std::to_string(i), on_gpu(values));
  hook_->end_step();
  gpu_.release();
  const ReadRun run = close_and_read();
  const std::size_t kept = run.steps.at(0).values.size();
  EXPECT_GT(kept, 100u);
  EXPECT_LT(kept, kTensors);
  EXPECT_EQ(kept + run.lost("staging_full"), kTensors);
}

TEST_F(HookDeviceTest, CloseWaitsForTheDevice) {
  open(KeepForm::whole());
  const std::vector<float> values = numbers(10);
  gpu_.hold_all();
  hook_->begin_group();
  hook_->save_tensor("x", on_gpu(values));
  std::thread releaser([&] { gpu_.release(); });
  const ReadRun run = close_and_read();
  releaser.join();
  EXPECT_EQ(floats_of(run.steps.at(0).values.at("x")), values);
}

TEST_F(HookDeviceTest, AStreamRecordedIntoAGraphIsLeftAlone) {
  open(KeepForm::whole());
  const std::vector<float> values = numbers(10);
  gpu_.set_recorded(true);
  hook_->save_tensor("x", on_gpu(values));
  hook_->end_step();
  EXPECT_EQ(close_and_read().lost("unsupported"), 1u);
}

TEST_F(HookDeviceTest, TheDeviceIsOpenedOnceAndOnlyWhenItIsNeeded) {
  open(KeepForm::whole());
  const std::vector<float> values = numbers(10);
  hook_->save_tensor("x", view_of(values));
  hook_->save_tensor("not_wanted", on_gpu(values));
  EXPECT_EQ(gpu_.opened(), 0);
  for (int i = 0; i < 3; ++i) hook_->save_tensor("x", on_gpu(values));
  EXPECT_EQ(gpu_.opened(), 1);
  EXPECT_EQ(close_and_read().steps.at(0).values.size(), 4u);
}

}  // namespace
}  // namespace trainwarden::capture
