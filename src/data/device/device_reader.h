// DeviceReader: reads tensors of one GPU without ever making the training wait.
//
// What reads a tensor is queued on the stream that produces it, so it sees the elements as they are then, and whatever
// the training does with the memory afterwards comes later by itself:
//
// - statistics: one launch of the kernel over all tensors of a group, into some hundred bytes for each;
// - values: a copy within the GPU into a staging ring, at the speed of its memory.
//
// From there a stream of our own carries both to the host. Who wants them waits for the ticket, in a thread of its own.
//
// All memory is bounded and taken at the first use. When the ring has no room a copy is refused, unless it is asked to
// wait. The ring must hold what a training that runs ahead of its GPU has queued: usually two steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/bytes.h"
#include "data/device/accelerator.h"
#include "data/device/event_pool.h"
#include "data/device/ring_allocator.h"
#include "data/device/slot_table.h"
#include "trainwarden/dtype.h"
#include "trainwarden/statistics.h"
#include "trainwarden/status.h"

namespace trainwarden::device {

struct DeviceReaderOptions {
  std::size_t staging_bytes = std::size_t{2} << 30;  // of the GPU's memory; at most an eighth of what is free is taken
  std::uint32_t slot_count = 8192;                   // tensors whose statistics are on their way
};

class Submission;
// What was read together. It must not outlive the reader; its last copy makes room for others.
using Ticket = std::shared_ptr<Submission>;

// The statistics of one tensor, there once the ticket has been waited for.
struct StatisticsRead {
  Ticket ticket;
  std::size_t slot = 0;
  std::uint64_t element_count = 0;
};

// May be used by many threads at once.
class DeviceReader {
 public:
  static Result<std::unique_ptr<DeviceReader>> create(std::unique_ptr<Accelerator> accelerator,
                                                      DeviceReaderOptions options = {});
  ~DeviceReader();
  DeviceReader(const DeviceReader&) = delete;
  DeviceReader& operator=(const DeviceReader&) = delete;

  // Memory of the host that is copied into must have been pinned, once, and outlive this.
  Status pin(MutableByteSpan memory) { return accelerator_->pin(memory); }

  // Whether the GPU computes statistics of such elements, which it can read only when they are aligned; else they are
  // computed from copies.
  bool summarizes(DType dtype, DeviceAddress elements) const;

  // What this thread reads between the two is read together, at the end: until then its memory must stay as it is.
  void begin_group();
  void end_group();

  // `count`, at least 1, elements in a row. kResourceExhausted: the statistics of too many tensors are on their way.
  // kFailedPrecondition: the stream is recorded into a CUDA graph.
  Result<StatisticsRead> read_statistics(DeviceAddress elements, std::uint64_t count, DType dtype, Stream stream);

  // As many bytes as `pinned` has. When the ring has no room: kResourceExhausted; or with `may_wait` this thread waits
  // for room, and what could never have room goes straight to the host, for which the producing stream waits.
  Result<Ticket> copy(DeviceAddress from, MutableByteSpan pinned, Stream stream, bool may_wait);

  // Blocks until everything of the ticket is on the host. Not ok: it never will be.
  Status wait(const Ticket& ticket);
  bool settled(const Ticket& ticket);  // wait() would not block
  Statistics statistics(const StatisticsRead& read) const;

 private:
  // What is to be queued on one stream.
  struct Copy {
    std::optional<std::size_t> staged;  // offset in the ring; none: straight to the host
    DeviceAddress from;
    MutableByteSpan to;
  };
  struct Batch {
    Stream stream = nullptr;
    Ticket ticket;
    std::uint32_t part_count = 0;
    std::vector<Copy> copies;
    std::vector<std::uint64_t> ranges;  // of the ring
  };

  DeviceReader(std::unique_ptr<Accelerator> accelerator, DeviceReaderOptions options);
  Status set_up();
  void set_up_staging();

  bool in_group() const { return group_thread_ == std::this_thread::get_id(); }
  Result<Batch> take_batch(Stream stream);
  void settle(Batch batch);
  std::optional<RingAllocator::Range> wait_for_room(std::size_t bytes);
  void submit(Batch batch);
  Status queue(const Batch& batch);
  Status queue_copies_to_host(const Batch& batch);
  void retire();

  const DeviceReaderOptions options_;
  std::unique_ptr<SlotTable> slots_;  // none: no kernel
  std::unique_ptr<Accelerator> accelerator_;
  EventPool events_;
  Stream side_ = nullptr;

  std::mutex mutex_;             // guards all below
  DeviceEvent ready_ = nullptr;  // the producing stream has done its part
  DeviceAddress staging_ = 0;
  std::optional<RingAllocator> ring_;  // of staging_, once a copy was asked for
  std::thread::id group_thread_;       // none: no group
  std::optional<Batch> open_;          // of the group
  std::deque<Batch> under_way_;        // oldest first
};

}  // namespace trainwarden::device
