#include "hook/capture/gpu/device_capture.h"

#include <algorithm>
#include <utility>

namespace trainwarden::capture {
namespace {

bool is_settled(const StagedStep& step) {
  return std::all_of(step.device_items.begin(), step.device_items.end(),
                     [](const DeviceItem& item) { return item.reader->settled(item.read.ticket); });
}

}  // namespace

DeviceCapture::~DeviceCapture() {
  for (const std::unique_ptr<StagedStep>& step : discarded_) {
    for (const DeviceItem& item : step->device_items) static_cast<void>(item.reader->wait(item.read.ticket));
  }
}

DeviceCapture::Opened& DeviceCapture::opened(const Device& device) {
  for (const std::unique_ptr<Opened>& known : devices_) {
    if (known->device == device) return *known;
  }
  auto added = std::make_unique<Opened>();
  added->device = device;
  Result<std::unique_ptr<device::Accelerator>> accelerator = open_(device);
  added->status = accelerator.status();
  if (accelerator.ok()) {
    auto reader = device::DeviceReader::create(*std::move(accelerator));
    added->status = reader.status();
    if (reader.ok()) added->reader = *std::move(reader);
  }
  if (added->reader != nullptr && group_thread_ == std::this_thread::get_id()) added->reader->begin_group();
  return *devices_.emplace_back(std::move(added));
}

Result<device::DeviceReader*> DeviceCapture::reader_of(const Device& device) {
  std::lock_guard lock(mutex_);
  const Opened& found = opened(device);
  TRAINWARDEN_RETURN_IF_ERROR(found.status);
  return found.reader.get();
}

Status DeviceCapture::pin_staging_for(const Device& device) {
  std::lock_guard lock(mutex_);
  Opened& found = opened(device);
  TRAINWARDEN_RETURN_IF_ERROR(found.status);
  if (!found.pinned) found.pinned = found.reader->pin(staging_.keep_region());
  return *found.pinned;
}

void DeviceCapture::begin_group() {
  std::lock_guard lock(mutex_);
  group_thread_ = std::this_thread::get_id();
  for (const std::unique_ptr<Opened>& known : devices_) {
    if (known->reader != nullptr) known->reader->begin_group();
  }
}

void DeviceCapture::end_group() {
  std::lock_guard lock(mutex_);
  if (group_thread_ == std::thread::id()) return;
  group_thread_ = std::thread::id();
  for (const std::unique_ptr<Opened>& known : devices_) {
    if (known->reader != nullptr) known->reader->end_group();
  }
}

void DeviceCapture::discard(std::unique_ptr<StagedStep> step) {
  std::lock_guard lock(mutex_);
  discarded_.push_back(std::move(step));
}

void DeviceCapture::free_discarded() {
  std::lock_guard lock(mutex_);
  std::erase_if(discarded_, [](const std::unique_ptr<StagedStep>& discarded) { return is_settled(*discarded); });
}

}  // namespace trainwarden::capture
