// StagingArea: bounded, warm memory in which kept tensors wait for the writer thread.
//
// One region of addresses, cut into chunks. A step takes chunks as it fills and gives all of them back when it has been
// written; the lowest free chunks are taken first, so that a small job keeps to a few warm ones and never commits the
// rest. Why not a ring: its head would wander through the whole region, whatever the job needs. What is small (rows of
// statistics, scalars) lies elsewhere and has an account of its own, so that tensors never crowd it out.
//
// Up to a first size the area is the hook's for good. It grows beyond only while the machine has as much again to
// spare, and gives that back when nothing has needed it for a while.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "hook/capture/staging/spare_memory.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

struct StagingGrowth {
  std::size_t first_bytes = std::size_t{256} << 20;
  // Who finds no room waits for it: the area grows only where nothing is on its way to the writer.
  bool waits = false;
  // How much memory the system has to spare, in bytes; none: it does not say.
  std::function<std::optional<std::uint64_t>()> spare = [] { return spare_memory_bytes(); };
};

// May be used by many threads at once.
class StagingArea {
 public:
  using Growth = StagingGrowth;
  // What is beyond the first size is given back after so many steps in a row that did not need it.
  static constexpr int kStepsUntilGivenBack = 64;

  // kResourceExhausted when the system has not even the addresses.
  static Result<std::unique_ptr<StagingArea>> create(std::size_t limit_bytes, Growth growth = {});
  ~StagingArea();
  StagingArea(const StagingArea&) = delete;
  StagingArea& operator=(const StagingArea&) = delete;

  // All of it, for whoever registers it with a device: from now on nothing of it is given back.
  MutableByteSpan keep_region();
  // Of the largest tensor that could ever have room.
  std::size_t capacity_bytes() const { return chunk_count_ * chunk_bytes_; }
  // What may be charged at once.
  std::size_t account_bytes() const;
  // Held by steps now, in chunks and by charges.
  std::size_t used_bytes() const;
  // Touched so far, and so taken from the system.
  std::size_t warm_bytes() const;

  // What one step holds. One thread at a time; gives everything back in the end.
  class Share {
   public:
    explicit Share(StagingArea& area) : area_(area) {}
    ~Share() { area_.release(*this); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // Memory on a 64-byte boundary, or none when there is no room. Throws std::bad_alloc when the system has no memory.
    std::optional<MutableByteSpan> allocate(std::size_t bytes);
    // Counts memory that the step holds elsewhere. False when the account is full.
    bool charge(std::size_t bytes);
    // What another share was charged with is now this one's.
    void take_charges_of(Share& other);
    // The step is on its way to the writer: others may wait for what it holds.
    void hand_over();

   private:
    friend class StagingArea;
    struct Run {
      std::size_t first_chunk;
      std::size_t chunk_count;
    };
    StagingArea& area_;
    std::vector<Run> runs_;  // allocation goes on in the last one
    std::size_t next_ = 0;   // offset in the region
    std::size_t charged_bytes_ = 0;
    bool handed_over_ = false;
  };

  // Waiting for room: take the count, try, and when there is no room wait for the count to change. False when it will
  // not, since no step is on its way to the writer, or since waiting was ended.
  std::uint64_t release_count() const;
  bool wait_for_release(std::uint64_t release_count_seen);
  void end_waiting();

 private:
  StagingArea(std::byte* region, std::size_t chunk_bytes, std::size_t chunk_count, Growth growth)
      : region_(region),
        chunk_bytes_(chunk_bytes),
        chunk_count_(chunk_count),
        growth_(std::move(growth)),
        taken_(chunk_count) {}

  bool extend(Share& share, std::size_t end);
  bool start_run(Share& share, std::size_t bytes);
  std::optional<std::size_t> find_free(std::size_t count) const;
  bool take(std::size_t first_chunk, std::size_t count);
  bool warm_up_to(std::size_t end);
  bool may_grow_by(std::size_t bytes) const;
  bool give_back_a_piece();
  void release(Share& share);

  std::byte* const region_;
  const std::size_t chunk_bytes_;
  const std::size_t chunk_count_;
  const Growth growth_;

  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::vector<bool> taken_;  // by chunk
  std::size_t taken_chunks_ = 0;
  std::size_t first_free_ = 0;  // no chunk before it is free
  std::size_t charged_bytes_ = 0;
  std::size_t warm_bytes_ = 0;  // from the start of the region
  int small_steps_ = 0;         // given back in a row, while nothing lay beyond the first size
  bool all_is_kept_ = false;
  std::uint64_t release_count_ = 0;
  std::size_t handed_over_ = 0;  // shares
  bool waiting_ended_ = false;
};

}  // namespace trainwarden::capture
