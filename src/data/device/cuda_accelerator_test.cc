// On a real GPU: what it computes and copies, against the CPU. Skipped, saying so, where there is none.
#include "data/device/cuda_accelerator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "data/device/device_reader.h"
#include "data/device/statistics_kernel.h"

namespace trainwarden::device {
namespace {

class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto accelerator = CudaAccelerator::open(0);
    if (!accelerator.ok()) GTEST_SKIP() << "no GPU to test on: " << accelerator.status().message();
    gpu_ = accelerator->get();
    ASSERT_TRUE(gpu_->kernel_status().ok()) << gpu_->kernel_status().message();
    stream_ = gpu_->create_stream().value();
    upload_ = std::vector<std::byte>(kUploadBytes);
    host_ = std::vector<std::byte>(kUploadBytes);
    ASSERT_TRUE(gpu_->pin(upload_).ok());
    reader_ = DeviceReader::create(*std::move(accelerator)).value();
    ASSERT_TRUE(reader_->pin(host_).ok());
  }

  // Device memory with these bytes, which may be changed once done() has been called.
  DeviceAddress upload(const void* data, std::size_t bytes) {
    const DeviceAddress address = gpu_->allocate(bytes).value();
    overwrite(address, data, bytes);
    return address;
  }
  void overwrite(DeviceAddress address, const void* data, std::size_t bytes) {
    std::memcpy(upload_.data() + uploaded_, data, bytes);
    EXPECT_TRUE(gpu_->copy_to_device(address, upload_.data() + uploaded_, bytes, stream_).ok());
    uploaded_ += bytes;
  }

  void expect_same_bits(const void* data, std::size_t count, DType dtype) {
    const TensorView view = TensorView::of(data, dtype, {static_cast<std::int64_t>(count)});
    uploaded_ = 0;
    const DeviceAddress address = upload(data, view.packed_bytes());
    const StatisticsRead read = reader_->read_statistics(address, count, dtype, stream_).value();
    const Status status = reader_->wait(read.ticket);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(reader_->statistics(read), compute_statistics(view).value()) << count << " of " << name(dtype);
  }

  static constexpr std::size_t kUploadBytes = std::size_t{16} << 20;
  std::vector<std::byte> upload_;
  std::vector<std::byte> host_;  // goes after the reader, as upload_ does
  std::size_t uploaded_ = 0;
  Accelerator* gpu_ = nullptr;
  Stream stream_ = nullptr;
  std::unique_ptr<DeviceReader> reader_;
};

std::vector<float> normal_values(std::size_t count, float scale) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

TEST_F(CudaTest, StatisticsHaveTheBitsOfTheCpu) {
  const std::vector<float> normal = normal_values(1'000'003, 0.02f);
  for (const std::size_t count : {1u, 31u, 32u, 33u, 511u, 512u, 513u, 8191u, 8192u, 8193u, 100'000u, 1'000'003u}) {
    expect_same_bits(normal.data(), count, DType::kFloat32);
  }
  std::vector<std::uint32_t> random_bits(300'001);
  std::mt19937 random(6);
  std::generate(random_bits.begin(), random_bits.end(), [&] { return static_cast<std::uint32_t>(random()); });
  expect_same_bits(random_bits.data(), random_bits.size(), DType::kFloat32);
  expect_same_bits(random_bits.data(), 2 * random_bits.size(), DType::kBFloat16);
  expect_same_bits(random_bits.data(), 2 * random_bits.size(), DType::kFloat16);
}

TEST_F(CudaTest, DenormalsZerosAndNanAlone) {
  for (const std::uint32_t bits :
       {0u, 1u, 0x80000000u, 0x807fffffu, 0x7f7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u}) {
    const std::vector<std::uint32_t> values(9000, bits);
    expect_same_bits(values.data(), values.size(), DType::kFloat32);
  }
}

TEST_F(CudaTest, AGroupOfManyTensorsWithCopies) {
  const std::vector<float> values = normal_values(400'000, 1.0f);
  std::vector<StatisticsRead> reads;
  std::vector<Ticket> tickets;
  std::vector<std::size_t> begins;
  std::size_t place = 0;
  const DeviceAddress base = upload(values.data(), values.size() * sizeof(float));
  reader_->begin_group();
  for (std::size_t begin = 0; begin < values.size(); begin += 4001) {
    const std::size_t count = std::min<std::size_t>(3999, values.size() - begin);
    const DeviceAddress address = base + begin * sizeof(float);
    reads.push_back(reader_->read_statistics(address, count, DType::kFloat32, stream_).value());
    const MutableByteSpan to(host_.data() + place, count * sizeof(float));
    tickets.push_back(reader_->copy(address, to, stream_, false).value());
    begins.push_back(begin);
    place += align_up(to.size(), 64);
  }
  reader_->end_group();
  place = 0;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    ASSERT_TRUE(reader_->wait(tickets[i]).ok());
    const float* part = values.data() + begins[i];
    const auto count = static_cast<std::int64_t>(reads[i].element_count);
    EXPECT_EQ(reader_->statistics(reads[i]),
              compute_statistics(TensorView::of(part, DType::kFloat32, {count})).value());
    EXPECT_EQ(std::memcmp(host_.data() + place, part, reads[i].element_count * sizeof(float)), 0) << i;
    place += align_up(reads[i].element_count * sizeof(float), 64);
  }
}

TEST_F(CudaTest, WhatIsWrittenAfterwardsIsNotSeen) {
  const std::vector<float> before = normal_values(1'000'000, 1.0f);
  const std::vector<float> after(before.size(), 7.0f);
  const std::size_t bytes = before.size() * sizeof(float);
  const DeviceAddress address = upload(before.data(), bytes);
  const StatisticsRead read = reader_->read_statistics(address, before.size(), DType::kFloat32, stream_).value();
  const Ticket ticket = reader_->copy(address, MutableByteSpan(host_).first(bytes), stream_, false).value();
  overwrite(address, after.data(), bytes);
  ASSERT_TRUE(reader_->wait(ticket).ok());
  EXPECT_EQ(std::memcmp(host_.data(), before.data(), bytes), 0);
  EXPECT_EQ(reader_->statistics(read).max, *std::max_element(before.begin(), before.end()));
}

// A figure, not a goal: what it is worth depends on the GPU.
TEST_F(CudaTest, TheSpeedOfTheKernelOverAGibibyte) {
  constexpr std::size_t kTensorBytes = std::size_t{8} << 20;
  constexpr int kTensors = 128;
  const std::vector<float> values = normal_values(kTensorBytes / sizeof(float), 0.02f);
  std::vector<DeviceAddress> addresses;
  addresses.push_back(upload(values.data(), kTensorBytes));
  for (int i = 1; i < kTensors; ++i) {
    addresses.push_back(gpu_->allocate(kTensorBytes).value());
    ASSERT_TRUE(gpu_->copy_on_device(addresses.back(), addresses.front(), kTensorBytes, stream_).ok());
  }
  double best_ms = 1e9;
  for (int repeat = 0; repeat < 20; ++repeat) {
    Ticket ticket;
    const auto begin = std::chrono::steady_clock::now();
    reader_->begin_group();
    for (const DeviceAddress address : addresses) {
      ticket = reader_->read_statistics(address, values.size(), DType::kFloat32, stream_)->ticket;
    }
    reader_->end_group();
    ASSERT_TRUE(reader_->wait(ticket).ok());
    const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
    best_ms = std::min(best_ms, spent.count());
  }
  std::printf("figure: statistics of 1 GiB in %.3f ms, launch and fetch included: %.0f GB/s\n", best_ms,
              static_cast<double>(kTensorBytes) * kTensors / best_ms / 1e6);
}

}  // namespace
}  // namespace trainwarden::device
