// The ranks of one training, and what they do together: sums, copies from one to all, and finding out who is lost.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace bert {

// What a program ends with when all ranks are to start again from the last checkpoint, so that who started it can tell
// that from a fault of this rank: EX_TEMPFAIL of sysexits.h.
inline constexpr int kStartAgainExitCode = 75;

// Another rank died, hangs or cannot be reached. What this rank holds is whole, but no collective will end any more.
class PeerLost : public std::runtime_error {
 public:
  PeerLost(int rank, const std::string& text) : std::runtime_error(text), rank_(rank) {}
  int rank() const { return rank_; }  // that was lost first, as far as can be told; -1 where it cannot

 private:
  int rank_;
};

// Prints the error and ends the process at once with kStartAgainExitCode: threads that wait for the lost rank would
// keep exit() waiting as well.
[[noreturn]] void leave_after(const PeerLost& error);

// How this process finds the others.
struct Launch {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  std::string master_address;  // where rank 0 is
  std::uint16_t master_port = 0;
  // For the start, and for each wait on other ranks.
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  // Each rank says so often that it lives; it is taken for dead after four of these without a word.
  std::chrono::milliseconds beat = std::chrono::milliseconds(500);
};

// What torchrun tells a process: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT. One process where WORLD_SIZE
// is not set. Throws std::runtime_error that names the variable where one is missing or no such number.
Launch launch_from_environment();

// A collective that runs.
class Pending {
 public:
  Pending() = default;  // one that has ended

  // Throws PeerLost when it fails or takes longer than the timeout.
  void wait();
  // When it ended, on the steady clock, after wait(). With NCCL: when it was queued.
  std::int64_t done_ns() const;

 private:
  friend class Group;
  struct End;
  struct State;
  std::shared_ptr<State> state_;
};

// Gloo for tensors of the CPU; NCCL for CUDA in builds that have it (TRAINWARDEN_CUDA). All ranks call the same
// functions in the same order, from one thread at a time. With one rank nothing is sent and nothing is needed of Launch
// but world_size.
class Group {
 public:
  // Waits for all ranks. Throws PeerLost that names those that did not come within the timeout, and std::runtime_error
  // on a Launch that cannot be.
  Group(const Launch& launch, c10::DeviceType device);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int rank() const;
  int size() const;
  c10::DeviceType device() const;  // of the tensors that it takes

  // In place; tensors are contiguous, of the same shape and type on all ranks, and not touched until wait() returns.
  Pending sum(const at::Tensor& tensor);
  Pending broadcast(const at::Tensor& tensor, int from);
  // Of each rank, in their order. Waits.
  std::vector<at::Tensor> gather_all(const at::Tensor& tensor);
  // Returns when all ranks have called it.
  void barrier();

 private:
  friend class Pending;
  struct Parts;
  template <typename Begin>
  Pending pending(const Begin& begin);

  std::shared_ptr<Parts> parts_;
};

// Now, on the steady clock: what times of buckets count in.
std::int64_t steady_ns();

}  // namespace bert
