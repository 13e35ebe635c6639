#include "data/device/device_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "data/device/fake_accelerator.h"
#include "data/device/statistics_kernel.h"

namespace trainwarden::device {
namespace {

std::vector<float> numbers(std::size_t count, float first = 1) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

DeviceAddress address_of(const std::vector<float>& values) {
  return reinterpret_cast<DeviceAddress>(values.data());
}

Statistics cpu_statistics(const std::vector<float>& values) {
  return compute_statistics(TensorView::of(values.data(), DType::kFloat32, {static_cast<std::int64_t>(values.size())}))
      .value();
}

class DeviceReaderTest : public ::testing::Test {
 protected:
  void open(DeviceReaderOptions options = {}) {
    reader_ = DeviceReader::create(gpu_.factory()(Device{DeviceType::kCuda, 0}).value(), options).value();
  }

  Result<StatisticsRead> read(const std::vector<float>& values, Stream stream = nullptr) {
    return reader_->read_statistics(address_of(values), values.size(), DType::kFloat32, stream);
  }
  Result<Ticket> copy(const std::vector<float>& values, std::vector<float>& to, bool may_wait = false) {
    to.assign(values.size(), 0);
    return reader_->copy(address_of(values), std::as_writable_bytes(std::span(to)), nullptr, may_wait);
  }

  FakeGpu gpu_;
  std::unique_ptr<DeviceReader> reader_;
};

TEST_F(DeviceReaderTest, StatisticsAreThoseOfTheCpu) {
  open();
  const std::vector<float> values = numbers(3 * kPartElements + 7, -9000);
  const StatisticsRead result = read(values).value();
  ASSERT_TRUE(reader_->wait(result.ticket).ok());
  EXPECT_EQ(reader_->statistics(result), cpu_statistics(values));
}

TEST_F(DeviceReaderTest, AGroupIsOneLaunchAndOneCopy) {
  open();
  std::vector<std::vector<float>> tensors;
  for (std::size_t i = 1; i <= 20; ++i) tensors.push_back(numbers(i * 1000, static_cast<float>(i)));
  std::vector<StatisticsRead> results;
  reader_->begin_group();
  for (const auto& tensor : tensors) results.push_back(read(tensor).value());
  EXPECT_EQ(gpu_.launches(), 0);
  reader_->end_group();
  EXPECT_EQ(gpu_.launches(), 1);
  EXPECT_EQ(gpu_.copies_to_host(), 1);
  ASSERT_TRUE(reader_->wait(results[0].ticket).ok());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(reader_->statistics(results[i]), cpu_statistics(tensors[i]));
  }
}

TEST_F(DeviceReaderTest, EveryStreamOfAGroupIsReadOnItself) {
  open();
  const std::vector<float> first = numbers(100);
  const std::vector<float> second = numbers(50, 7);
  reader_->begin_group();
  const StatisticsRead a = read(first, gpu_.training_stream(1)).value();
  const StatisticsRead b = read(second, gpu_.training_stream(2)).value();
  reader_->end_group();
  EXPECT_EQ(gpu_.launches(), 2);
  ASSERT_TRUE(reader_->wait(b.ticket).ok());
  ASSERT_TRUE(reader_->wait(a.ticket).ok());
  EXPECT_EQ(reader_->statistics(a), cpu_statistics(first));
  EXPECT_EQ(reader_->statistics(b), cpu_statistics(second));
}

TEST_F(DeviceReaderTest, WhoeverWaitsForAnOpenGroupGetsIt) {
  open();
  const std::vector<float> values = numbers(10);
  reader_->begin_group();
  const StatisticsRead result = read(values).value();
  EXPECT_FALSE(reader_->settled(result.ticket));
  EXPECT_TRUE(reader_->wait(result.ticket).ok());
  EXPECT_EQ(reader_->statistics(result), cpu_statistics(values));
  reader_->end_group();
}

TEST_F(DeviceReaderTest, ATensorIsReadAsItIsBetweenWhatTheTrainingDoesBeforeAndAfter) {
  open();
  std::vector<float> values(500, 0);
  std::vector<float> copied;
  gpu_.hold_all();
  gpu_.queue(nullptr, [&] { std::iota(values.begin(), values.end(), 1.0f); });
  const StatisticsRead result = read(values).value();
  const Ticket ticket = copy(values, copied).value();
  gpu_.queue(nullptr, [&] { std::fill(values.begin(), values.end(), -1.0f); });
  EXPECT_FALSE(reader_->settled(result.ticket));
  EXPECT_EQ(values[0], 0);
  gpu_.release();
  ASSERT_TRUE(reader_->wait(result.ticket).ok());
  ASSERT_TRUE(reader_->wait(ticket).ok());
  EXPECT_TRUE(reader_->settled(ticket));
  EXPECT_EQ(copied, numbers(values.size()));
  EXPECT_EQ(reader_->statistics(result), cpu_statistics(copied));
}

TEST_F(DeviceReaderTest, AStreamThatIsBehindDelaysOnlyTheHost) {
  open();
  const std::vector<float> values = numbers(10);
  gpu_.hold(gpu_.training_stream(1));
  const StatisticsRead late = read(values, gpu_.training_stream(1)).value();
  bool training_went_on = false;
  gpu_.queue(gpu_.training_stream(2), [&] { training_went_on = true; });
  gpu_.wait_until_quiet();
  EXPECT_TRUE(training_went_on);
  EXPECT_FALSE(reader_->settled(late.ticket));
  gpu_.release();
  EXPECT_TRUE(reader_->wait(late.ticket).ok());
}

TEST_F(DeviceReaderTest, NeighboursGoToTheHostInOneCopy) {
  open();
  const std::vector<float> first = numbers(16);  // 64 bytes
  const std::vector<float> second = numbers(20, 100);
  const std::vector<float> third = numbers(7, 200);
  std::vector<float> host(128, 0);
  const auto part = [&](std::size_t begin, std::size_t count) {
    return std::as_writable_bytes(std::span(host).subspan(begin, count));
  };
  reader_->begin_group();
  ASSERT_TRUE(reader_->copy(address_of(first), part(0, 16), nullptr, false).ok());
  ASSERT_TRUE(reader_->copy(address_of(second), part(16, 20), nullptr, false).ok());
  const Ticket ticket = reader_->copy(address_of(third), part(64, 7), nullptr, false).value();
  reader_->end_group();
  ASSERT_TRUE(reader_->wait(ticket).ok());
  EXPECT_EQ(gpu_.copies_to_host(), 2);
  EXPECT_EQ(std::vector<float>(host.begin(), host.begin() + 16), first);
  EXPECT_EQ(std::vector<float>(host.begin() + 16, host.begin() + 36), second);
  EXPECT_EQ(std::vector<float>(host.begin() + 64, host.begin() + 71), third);
}

TEST_F(DeviceReaderTest, AFullRingRefusesOrIsWaitedFor) {
  open({.staging_bytes = 1024});
  const std::vector<float> values = numbers(150);
  std::vector<float> first;
  std::vector<float> second;
  std::vector<float> third;
  gpu_.hold_all();
  const Ticket a = copy(values, first).value();
  EXPECT_EQ(copy(values, second).status().code(), Code::kResourceExhausted);
  std::thread releaser([&] { gpu_.release(); });
  const Ticket b = copy(values, second, true).value();
  releaser.join();
  ASSERT_TRUE(reader_->wait(a).ok());
  ASSERT_TRUE(reader_->wait(b).ok());
  EXPECT_EQ(first, values);
  EXPECT_EQ(second, values);
  EXPECT_TRUE(copy(values, third).ok());
  gpu_.wait_until_quiet();
  EXPECT_EQ(third, values);
}

TEST_F(DeviceReaderTest, AGroupThatIsLargerThanTheRingIsReadInPieces) {
  open({.staging_bytes = 1024});
  const std::vector<float> values = numbers(150);
  std::vector<std::vector<float>> copies(5);
  std::vector<Ticket> tickets;
  reader_->begin_group();
  for (std::vector<float>& to : copies) tickets.push_back(copy(values, to, true).value());
  reader_->end_group();
  for (const Ticket& ticket : tickets) ASSERT_TRUE(reader_->wait(ticket).ok());
  for (const std::vector<float>& to : copies) EXPECT_EQ(to, values);
}

TEST_F(DeviceReaderTest, WhatIsLargerThanTheRingGoesStraightToTheHost) {
  open({.staging_bytes = 1024});
  const std::vector<float> values = numbers(1000);
  std::vector<float> copied;
  EXPECT_EQ(copy(values, copied).status().code(), Code::kResourceExhausted);
  ASSERT_TRUE(reader_->wait(copy(values, copied, true).value()).ok());
  EXPECT_EQ(copied, values);
}

TEST_F(DeviceReaderTest, StatisticsAloneTakeNoRing) {
  open();
  const std::size_t before = gpu_.allocated_bytes();
  const std::vector<float> values = numbers(100);
  ASSERT_TRUE(reader_->wait(read(values)->ticket).ok());
  EXPECT_EQ(gpu_.allocated_bytes(), before);
}

TEST_F(DeviceReaderTest, TheRingLeavesTheGpuToTheTraining) {
  open();
  gpu_.set_free_bytes(8 * 512);
  const std::size_t before = gpu_.allocated_bytes();
  const std::vector<float> small = numbers(100);
  const std::vector<float> large = numbers(200);
  std::vector<float> copied;
  ASSERT_TRUE(reader_->wait(copy(small, copied).value()).ok());
  EXPECT_EQ(gpu_.allocated_bytes() - before, 512u);
  EXPECT_EQ(copy(large, copied).status().code(), Code::kResourceExhausted);
}

TEST_F(DeviceReaderTest, SlotsAreBoundedAndServeAgain) {
  open({.slot_count = 4});
  const std::vector<float> values = numbers(10);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 4; ++i) tickets.push_back(read(values)->ticket);
  EXPECT_EQ(read(values).status().code(), Code::kResourceExhausted);
  for (const Ticket& ticket : tickets) ASSERT_TRUE(reader_->wait(ticket).ok());
  tickets.clear();
  for (int i = 0; i < 20; ++i) {
    const StatisticsRead result = read(values).value();
    ASSERT_TRUE(reader_->wait(result.ticket).ok());
    ASSERT_EQ(reader_->statistics(result), cpu_statistics(values));
  }
}

TEST_F(DeviceReaderTest, AGroupThatReachesTheEndOfTheSlotsIsCutThere) {
  open({.slot_count = 4});
  const std::vector<float> values = numbers(10);
  std::vector<Ticket> before;
  for (int i = 0; i < 3; ++i) before.push_back(read(values)->ticket);
  for (const Ticket& ticket : before) ASSERT_TRUE(reader_->wait(ticket).ok());
  before.erase(before.begin(), before.begin() + 2);  // the third slot stays taken
  const std::vector<float> other = numbers(40, 3);
  reader_->begin_group();
  const StatisticsRead last = read(values).value();
  const StatisticsRead first = read(other).value();
  reader_->end_group();
  EXPECT_NE(last.ticket, first.ticket);
  ASSERT_TRUE(reader_->wait(last.ticket).ok());
  ASSERT_TRUE(reader_->wait(first.ticket).ok());
  EXPECT_EQ(reader_->statistics(last), cpu_statistics(values));
  EXPECT_EQ(reader_->statistics(first), cpu_statistics(other));
}

TEST_F(DeviceReaderTest, ARefusedCallFailsItsTicketAndNothingElse) {
  open();
  const std::vector<float> values = numbers(100);
  std::vector<float> copied;
  for (int n = 1; n <= 12; ++n) {
    SCOPED_TRACE(n);
    gpu_.fail_call(n);
    reader_->begin_group();
    const StatisticsRead result = read(values).value();
    const Ticket ticket = copy(values, copied).value();
    reader_->end_group();
    const Status status = reader_->wait(ticket);
    if (status.ok()) {
      EXPECT_EQ(copied, values);
      EXPECT_EQ(reader_->statistics(result), cpu_statistics(values));
    } else {
      EXPECT_NE(status.message().find("the fake driver refuses"), std::string::npos);
    }
    EXPECT_EQ(status.ok(), n > 9);
    gpu_.fail_call(0);
    const StatisticsRead next = read(values).value();
    ASSERT_TRUE(reader_->wait(next.ticket).ok());
    EXPECT_EQ(reader_->statistics(next), cpu_statistics(values));
  }
}

TEST_F(DeviceReaderTest, AfterAFaultOfTheGpuNobodyWaits) {
  open({.staging_bytes = 1024});
  const std::vector<float> values = numbers(200);
  std::vector<float> copied;
  gpu_.hold_all();
  const Ticket ticket = copy(values, copied).value();
  gpu_.fail_waits();
  EXPECT_EQ(reader_->wait(ticket).code(), Code::kInternal);
  EXPECT_TRUE(copy(values, copied).ok());
  EXPECT_TRUE(reader_->settled(ticket));
}

TEST_F(DeviceReaderTest, AStreamThatIsRecordedIntoAGraphIsLeftAlone) {
  open();
  const std::vector<float> values = numbers(10);
  std::vector<float> copied;
  gpu_.set_recorded(true);
  EXPECT_EQ(read(values).status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(copy(values, copied).status().code(), Code::kFailedPrecondition);
  gpu_.set_recorded(false);
  const auto result = read(values);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(reader_->wait(result->ticket).ok());
}

TEST_F(DeviceReaderTest, WithoutAKernelNothingIsSummarized) {
  open();
  EXPECT_TRUE(reader_->summarizes(DType::kBFloat16, 2));
  EXPECT_FALSE(reader_->summarizes(DType::kFloat32, 2));
  EXPECT_FALSE(reader_->summarizes(DType::kInt64, 8));
  gpu_.remove_kernel();
  open();
  EXPECT_FALSE(reader_->summarizes(DType::kFloat32, 4));
}

TEST_F(DeviceReaderTest, ManyThreadsReadAtOnce) {
  open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<float> values = numbers(300, static_cast<float>(t));
      for (int i = 0; i < 50; ++i) {
        std::vector<float> copied;
        if (t == 0) reader_->begin_group();
        const StatisticsRead result = read(values, gpu_.training_stream(static_cast<std::uintptr_t>(t))).value();
        const Ticket ticket = copy(values, copied).value();
        if (t == 0) reader_->end_group();
        EXPECT_TRUE(reader_->wait(result.ticket).ok());
        EXPECT_TRUE(reader_->wait(ticket).ok());
        EXPECT_EQ(copied, values);
        EXPECT_EQ(reader_->statistics(result), cpu_statistics(values));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace trainwarden::device
