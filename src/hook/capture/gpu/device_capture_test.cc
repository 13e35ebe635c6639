#include "hook/capture/gpu/device_capture.h"

#include <gtest/gtest.h>

#include <vector>

#include "data/device/fake_accelerator.h"

namespace trainwarden::capture {
namespace {

constexpr Device kGpu{DeviceType::kCuda, 0};

// A step into whose memory a held GPU is to copy.
TEST(DeviceCaptureTest, ADiscardedStepKeepsItsMemoryAsLongAsTheDeviceCopiesIntoIt) {
  const auto staging = StagingArea::create(std::size_t{1} << 20).value();
  device::FakeGpu gpu;
  DeviceCapture devices(gpu.factory(), *staging);
  const std::vector<float> values(100, 3);
  auto step = std::make_unique<StagedStep>(*staging);
  DeviceItem item{.form = kValuesBit, .reader = devices.reader_of(kGpu).value()};
  item.memory = step->share.allocate(values.size() * sizeof(float)).value();
  gpu.hold_all();
  const auto address = reinterpret_cast<device::DeviceAddress>(values.data());
  item.read.ticket = item.reader->copy(address, item.memory, nullptr, false).value();
  step->device_items.push_back(std::move(item));

  devices.discard(std::move(step));
  devices.free_discarded();
  EXPECT_GT(staging->used_bytes(), 0u);
  gpu.release();
  gpu.wait_until_quiet();
  devices.free_discarded();
  EXPECT_EQ(staging->used_bytes(), 0u);
}

TEST(DeviceCaptureTest, AReaderThatIsOpenedWithinAGroupBelongsToIt) {
  const auto staging = StagingArea::create(std::size_t{1} << 20).value();
  device::FakeGpu gpu;
  DeviceCapture devices(gpu.factory(), *staging);
  const float value = 1;
  const auto address = reinterpret_cast<device::DeviceAddress>(&value);
  devices.begin_group();
  device::DeviceReader* const reader = devices.reader_of(kGpu).value();
  const auto first = reader->read_statistics(address, 1, DType::kFloat32, nullptr).value();
  const auto second = reader->read_statistics(address, 1, DType::kFloat32, nullptr).value();
  EXPECT_EQ(gpu.launches(), 0);
  devices.end_group();
  EXPECT_EQ(gpu.launches(), 1);
  EXPECT_TRUE(reader->wait(second.ticket).ok());
}

TEST(DeviceCaptureTest, EachDeviceHasAReaderOfItsOwn) {
  const auto staging = StagingArea::create(std::size_t{1} << 20).value();
  device::FakeGpu gpu;
  DeviceCapture devices(gpu.factory(), *staging);
  const Device other{DeviceType::kCuda, 1};
  EXPECT_EQ(devices.reader_of(kGpu).value(), devices.reader_of(kGpu).value());
  EXPECT_NE(devices.reader_of(kGpu).value(), devices.reader_of(other).value());
  EXPECT_EQ(gpu.opened(), 2);
}

}  // namespace
}  // namespace trainwarden::capture
