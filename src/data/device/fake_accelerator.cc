#include "data/device/fake_accelerator.h"

#include <cstring>
#include <utility>

#include "data/device/host_warp.h"

namespace trainwarden::device {
namespace {

void* pointer(DeviceAddress address) {
  return std::bit_cast<void*>(address);
}

}  // namespace

class FakeAccelerator final : public Accelerator {
 public:
  explicit FakeAccelerator(FakeGpu& gpu) : gpu_(gpu) {}
  // As the driver does, waits for what runs; what is held is never done.
  ~FakeAccelerator() override {
    gpu_.wait_until_quiet();
    std::lock_guard lock(gpu_.mutex_);
    gpu_.streams_.clear();
  }

  Result<DeviceAddress> allocate(std::size_t bytes) override {
    std::lock_guard lock(gpu_.mutex_);
    if (bytes > gpu_.free_bytes_) return Status(Code::kInternal, "out of memory");
    gpu_.allocated_bytes_ += bytes;
    memory_.push_back(std::make_unique<std::byte[]>(bytes));
    return reinterpret_cast<DeviceAddress>(memory_.back().get());
  }
  Result<std::size_t> free_bytes() override { return gpu_.get(gpu_.free_bytes_); }
  Status pin(MutableByteSpan) override {
    return gpu_.get(gpu_.pin_fails_) ? Status(Code::kInternal, "nothing can be pinned") : Status();
  }
  Result<Stream> create_stream() override {
    std::lock_guard lock(gpu_.mutex_);
    return std::bit_cast<Stream>(gpu_.next_stream_++);
  }
  Result<DeviceEvent> create_event() override {
    std::lock_guard lock(gpu_.mutex_);
    return static_cast<DeviceEvent>(&events_.emplace_back());
  }

  Result<bool> is_recorded(Stream) override { return gpu_.get(gpu_.recorded_); }

  Status record(DeviceEvent event, Stream stream) override {
    const FakeGpu::Record record = std::make_shared<bool>(false);
    gpu_.set(as_fake(event)->latest, record);
    return gpu_.queue_call(stream, {[this, record] { gpu_.set(*record, true); }});
  }
  Status hold_until(Stream stream, DeviceEvent event) override {
    return gpu_.queue_call(stream, {[] {}, gpu_.get(as_fake(event)->latest)});
  }
  Result<bool> reached(DeviceEvent event) override {
    std::lock_guard lock(gpu_.mutex_);
    if (gpu_.waits_fail_) return failure();
    return *as_fake(event)->latest;
  }
  Status wait(DeviceEvent event) override {
    std::unique_lock lock(gpu_.mutex_);
    const FakeGpu::Record record = as_fake(event)->latest;
    gpu_.changed_.wait(lock, [&] { return gpu_.waits_fail_ || *record; });
    return gpu_.waits_fail_ ? failure() : Status();
  }

  Status copy_to_device(DeviceAddress to, const void* pinned, std::size_t bytes, Stream stream) override {
    return gpu_.queue_call(stream, {[=] { std::memcpy(pointer(to), pinned, bytes); }});
  }
  Status copy_on_device(DeviceAddress to, DeviceAddress from, std::size_t bytes, Stream stream) override {
    return copy_to_device(to, pointer(from), bytes, stream);
  }
  Status copy_to_host(void* pinned, DeviceAddress from, std::size_t bytes, Stream stream) override {
    {
      std::lock_guard lock(gpu_.mutex_);
      ++gpu_.copies_to_host_;
    }
    return copy_to_device(reinterpret_cast<DeviceAddress>(pinned), pointer(from), bytes, stream);
  }
  Status clear(DeviceAddress at, std::size_t bytes, Stream stream) override {
    return gpu_.queue_call(stream, {[=] { std::memset(pointer(at), 0, bytes); }});
  }

  Status kernel_status() const override {
    return gpu_.get(gpu_.has_kernel_) ? Status() : Status(Code::kUnavailable, "no kernel");
  }
  Status summarize(DeviceAddress tasks, std::uint32_t task_count, std::uint32_t part_count, DeviceAddress raw,
                   Stream stream) override {
    {
      std::lock_guard lock(gpu_.mutex_);
      ++gpu_.launches_;
    }
    const auto work = [=] {
      summarize_on_host({static_cast<const TensorTask*>(pointer(tasks)), task_count}, part_count,
                        static_cast<RawStatistics*>(pointer(raw)));
    };
    return gpu_.queue_call(stream, {work});
  }

 private:
  static FakeGpu::FakeEvent* as_fake(DeviceEvent event) { return static_cast<FakeGpu::FakeEvent*>(event); }
  static Status failure() { return Status(Code::kInternal, "an illegal memory access was encountered"); }

  FakeGpu& gpu_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::deque<FakeGpu::FakeEvent> events_;
};

FakeGpu::FakeGpu() : thread_([this] { run(); }) {}

FakeGpu::~FakeGpu() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

AcceleratorFactory FakeGpu::factory() {
  return [this](Device) -> Result<std::unique_ptr<Accelerator>> {
    std::lock_guard lock(mutex_);
    if (open_fails_) return Status(Code::kUnavailable, "there is no such GPU");
    ++opened_;
    return std::unique_ptr<Accelerator>(std::make_unique<FakeAccelerator>(*this));
  };
}

void FakeGpu::queue(Stream stream, std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    streams_[stream].push_back({std::move(work)});
  }
  changed_.notify_all();
}

Status FakeGpu::queue_call(Stream stream, Operation operation) {
  {
    std::lock_guard lock(mutex_);
    if (calls_to_failure_ > 0 && --calls_to_failure_ == 0) return Status(Code::kInternal, "the fake driver refuses");
    streams_[stream].push_back(std::move(operation));
  }
  changed_.notify_all();
  return Status();
}

void FakeGpu::hold(Stream stream) {
  std::lock_guard lock(mutex_);
  held_[stream] = true;
}

void FakeGpu::hold_all() {
  std::lock_guard lock(mutex_);
  all_held_ = true;
}

void FakeGpu::release() {
  {
    std::lock_guard lock(mutex_);
    held_.clear();
    all_held_ = false;
  }
  changed_.notify_all();
}

void FakeGpu::wait_until_quiet() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !working_ && next_stream() == nullptr; });
}

// One whose first operation can be done now.
std::deque<FakeGpu::Operation>* FakeGpu::next_stream() {
  if (all_held_) return nullptr;
  for (auto& [stream, operations] : streams_) {
    if (operations.empty() || held_[stream]) continue;
    const Operation& first = operations.front();
    if (first.after == nullptr || *first.after) return &operations;
  }
  return nullptr;
}

void FakeGpu::run() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    std::deque<Operation>* const operations = next_stream();
    if (operations == nullptr) {
      changed_.wait(lock);
      continue;
    }
    const Operation operation = std::move(operations->front());
    operations->pop_front();
    const bool lost = waits_fail_;
    working_ = true;
    lock.unlock();
    if (!lost) operation.work();
    lock.lock();
    working_ = false;
    changed_.notify_all();
  }
}

}  // namespace trainwarden::device
