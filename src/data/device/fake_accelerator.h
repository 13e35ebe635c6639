// FakeGpu: a GPU for tests. Its memory is the host's, its streams are queues that one thread works off, and the test
// says when. What it launches is the real kernel, compiled for the CPU.
#pragma once

#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "data/device/accelerator.h"

namespace trainwarden::device {

// May be used by many threads at once. Outlives the accelerators that it makes.
class FakeGpu {
 public:
  FakeGpu();
  ~FakeGpu();  // what is still held is never done
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;

  // Opens accelerators on this GPU, for any device.
  AcceleratorFactory factory();

  // A stream of the training's own; nullptr is the default stream. Streams run independently of one another.
  Stream training_stream(std::uintptr_t number) { return std::bit_cast<Stream>(number); }
  // Queues work of the training.
  void queue(Stream stream, std::function<void()> work);

  // Nothing on the stream is done until release().
  void hold(Stream stream);
  void hold_all();
  void release();
  // Waits until nothing is left to do but what is held, and what waits for that.
  void wait_until_quiet();

  // The n-th call from now (1: the next) that queues something is refused.
  void fail_call(int n) { set(calls_to_failure_, n); }
  void fail_waits() { set(waits_fail_, true); }  // as after an illegal access: everything that was queued is lost
  void fail_to_pin() { set(pin_fails_, true); }
  void fail_to_open() { set(open_fails_, true); }
  void set_free_bytes(std::size_t bytes) { set(free_bytes_, bytes); }
  void set_recorded(bool recorded) { set(recorded_, recorded); }  // all streams, into a CUDA graph
  void remove_kernel() { set(has_kernel_, false); }

  int launches() const { return get(launches_); }
  int copies_to_host() const { return get(copies_to_host_); }
  int opened() const { return opened_; }  // without the lock: in a forked child it may be held for ever
  std::size_t allocated_bytes() const { return get(allocated_bytes_); }

 private:
  friend class FakeAccelerator;
  using Record = std::shared_ptr<bool>;  // of an event; whether it has been reached
  struct FakeEvent {
    Record latest = std::make_shared<bool>(true);
  };
  struct Operation {
    std::function<void()> work;
    Record after;  // none: at once
  };

  template <class T>
  void set(T& member, T value) {
    {
      std::lock_guard lock(mutex_);
      member = value;
    }
    changed_.notify_all();
  }
  template <class T>
  T get(const T& member) const {
    std::lock_guard lock(mutex_);
    return member;
  }
  Status queue_call(Stream stream, Operation operation);
  std::deque<Operation>* next_stream();
  void run();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Stream, std::deque<Operation>> streams_;
  std::map<Stream, bool> held_;
  bool all_held_ = false;
  bool working_ = false;
  bool ended_ = false;
  std::uintptr_t next_stream_ = 1000;

  int calls_to_failure_ = 0;
  bool waits_fail_ = false;
  bool pin_fails_ = false;
  bool open_fails_ = false;
  bool recorded_ = false;
  bool has_kernel_ = true;
  std::size_t free_bytes_ = std::size_t{64} << 20;
  int launches_ = 0;
  int copies_to_host_ = 0;
  std::atomic<int> opened_ = 0;
  std::size_t allocated_bytes_ = 0;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace trainwarden::device
