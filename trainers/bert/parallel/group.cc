// Rendezvous by torchrun's contract, and collectives over c10d that end within their timeout.
#include "parallel/group.h"

#include <ATen/Functions.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#ifdef BERT_WITH_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include "parallel/rank_watch.h"

namespace bert {
namespace {

using Backend = c10::intrusive_ptr<c10d::ProcessGroupGloo>;

long number_from(const char* variable, long min, long max) {
  const char* text = std::getenv(variable);
  if (text == nullptr) {
    throw std::runtime_error(
        std::string("WORLD_SIZE is set, but ") + variable +
        " is not. Start the ranks by torchrun or as a job with tasks_per_node, or set RANK, WORLD_SIZE, "
        "LOCAL_RANK, MASTER_ADDR and MASTER_PORT.");
  }
  char* end = nullptr;
  errno = 0;
  const long number = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || number < min || number > max) {
    throw std::runtime_error(std::string(variable) + " must be a number from " + std::to_string(min) + " to " +
                             std::to_string(max) + ", found \"" + text + "\".");
  }
  return number;
}

c10::intrusive_ptr<c10d::Store> connect(const Launch& launch, bool server) {
  c10d::TCPStoreOptions options;
  options.port = launch.master_port;
  options.isServer = server;
  options.waitWorkers = false;
  options.timeout = launch.timeout;
  return c10::make_intrusive<c10d::TCPStore>(launch.master_address, options);
}

// The network of GLOO_SOCKET_IFNAME where that is set, as for PyTorch; the loopback where rank 0 is on it.
std::shared_ptr<::gloo::transport::Device> network_device(const Launch& launch) {
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr && *interface != '\0') return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  if (launch.master_address == "localhost" || launch.master_address.rfind("127.", 0) == 0) {
    return c10d::ProcessGroupGloo::createDeviceForHostname(launch.master_address);
  }
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

// Waits for a word of each rank, so that a timeout can say whose is missing.
void meet(c10d::Store& store, const Launch& launch) {
  const auto key = [](int rank) { return "bert/here/" + std::to_string(rank); };
  store.set(key(launch.rank), std::vector<std::uint8_t>{1});
  std::vector<std::string> keys;
  for (int rank = 0; rank < launch.world_size; ++rank) keys.push_back(key(rank));
  try {
    store.wait(keys, launch.timeout);
    return;
  } catch (const std::exception&) {
  }
  int first = -1;
  std::string missing;
  for (int rank = 0; rank < launch.world_size; ++rank) {
    if (store.check({key(rank)})) continue;
    if (first < 0) first = rank;
    missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
  }
  throw PeerLost(first, "Of " + std::to_string(launch.world_size) + " ranks, these did not come within " +
                            std::to_string(launch.timeout.count()) + " ms: " + missing + ". Look at their logs.");
}

}  // namespace

struct Group::Parts {
  int rank = 0;
  int size = 1;
  std::chrono::milliseconds timeout{};
  c10::DeviceType device = c10::kCPU;
  bool of_accelerator = false;
#ifdef BERT_WITH_NCCL
  c10::intrusive_ptr<c10d::ProcessGroupNCCL> nccl;
#endif
  Backend gloo;
  std::unique_ptr<RankWatch> watch;
  bool broken = false;

  // Begins a collective of tensors whose end is made known.
  template <typename Begin>
  c10::intrusive_ptr<c10d::Work> begin(const Begin& begin_on) {
    watch->joined();
    try {
#ifdef BERT_WITH_NCCL
      if (nccl) return begin_on(*nccl);
#endif
      return begin_on(*gloo);
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

  [[noreturn]] void fail(const std::string& symptom) {
    broken = true;
    const Verdict verdict = watch->judge(symptom);
    throw PeerLost(verdict.rank, "Rank " + std::to_string(rank) + " of " + std::to_string(size) +
                                     " cannot go on: " + verdict.text + ". Start again from the last checkpoint.");
  }
};

// Held by the collective's own thread too, which must not be the one that ends the group: so it knows nothing of it.
struct Pending::End {
  std::mutex mutex;
  std::condition_variable changed;
  std::int64_t ns = 0;  // 0 while the collective runs

  void mark() {
    const std::lock_guard lock(mutex);
    ns = steady_ns();
    changed.notify_all();
  }
  bool wait_for(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, time, [this] { return ns != 0; });
  }
};

struct Pending::State {
  std::shared_ptr<Group::Parts> group;
  c10::intrusive_ptr<c10d::Work> work;
  std::shared_ptr<End> end = std::make_shared<End>();

  // A lost rank that another one has found ends the wait before the timeout does.
  void wait_for_end() {
    const auto deadline = std::chrono::steady_clock::now() + group->timeout;
    while (!end->wait_for(std::chrono::milliseconds(100))) {
      if (std::chrono::steady_clock::now() < deadline && !group->watch->told()) continue;
      group->fail("no answer within " + std::to_string(group->timeout.count()) + " ms");
    }
  }
};

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void leave_after(const PeerLost& error) {
  std::fprintf(stderr, "%s\n", error.what());
  std::fflush(nullptr);
  std::_Exit(kStartAgainExitCode);
}

Launch launch_from_environment() {
  Launch launch;
  if (std::getenv("WORLD_SIZE") == nullptr) return launch;
  launch.world_size = static_cast<int>(number_from("WORLD_SIZE", 1, 65536));
  launch.rank = static_cast<int>(number_from("RANK", 0, launch.world_size - 1));
  if (launch.world_size == 1) return launch;
  launch.local_rank = static_cast<int>(number_from("LOCAL_RANK", 0, launch.world_size - 1));
  launch.master_port = static_cast<std::uint16_t>(number_from("MASTER_PORT", 1, 65535));
  const char* address = std::getenv("MASTER_ADDR");
  if (address == nullptr || *address == '\0') {
    throw std::runtime_error("WORLD_SIZE is set, but MASTER_ADDR is not: it names the machine of rank 0.");
  }
  launch.master_address = address;
  return launch;
}

void Pending::wait() {
  if (!state_ || !state_->work) return;
  State& state = *state_;
  // What runs on an accelerator is waited for by its stream, and watched by NCCL itself.
  if (!state.group->of_accelerator) state.wait_for_end();
  try {
    state.work->wait();
  } catch (const std::exception& error) {
    state.group->fail(error.what());
  }
  if (state.group->of_accelerator) state.end->mark();
  state.work.reset();
}

std::int64_t Pending::done_ns() const {
  return state_ ? state_->end->ns : 0;
}

Group::Group(const Launch& launch, c10::DeviceType device) : parts_(std::make_shared<Parts>()) {
  parts_->rank = launch.rank;
  parts_->size = launch.world_size;
  parts_->timeout = launch.timeout;
  parts_->device = device;
  parts_->of_accelerator = device != c10::kCPU;
  if (launch.world_size == 1) return;
  if (launch.rank < 0 || launch.rank >= launch.world_size || launch.timeout.count() <= 0 || launch.beat.count() <= 0) {
    throw std::runtime_error("Ranks count from 0 to WORLD_SIZE - 1 and times are positive; found rank " +
                             std::to_string(launch.rank) + " of " + std::to_string(launch.world_size) + ".");
  }
#ifndef BERT_WITH_NCCL
  if (parts_->of_accelerator) {
    throw std::runtime_error(
        "This build sums over ranks on the CPU only. Build with TRAINWARDEN_CUDA for accelerators.");
  }
#endif
  try {
    auto store = connect(launch, launch.rank == 0);
    meet(*store, launch);
    parts_->watch =
        std::make_unique<RankWatch>(connect(launch, false), store, launch.rank, launch.world_size, launch.beat);
#ifdef BERT_WITH_NCCL
    if (parts_->of_accelerator) {
      auto options = c10d::ProcessGroupNCCL::Options::create();
      options->timeout = launch.timeout;
      parts_->nccl = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, launch.rank, launch.world_size, options);
      return;
    }
#endif
    auto options = c10d::ProcessGroupGloo::Options::create(launch.timeout);
    options->devices.push_back(network_device(launch));
    parts_->gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store, launch.rank, launch.world_size, options);
  } catch (const PeerLost&) {
    throw;
  } catch (const std::exception& error) {
    throw PeerLost(-1, "Rank " + std::to_string(launch.rank) + " cannot reach the others by " + launch.master_address +
                           ":" + std::to_string(launch.master_port) + ": " + error.what());
  }
}

Group::~Group() {
  // Threads of a broken group wait for the lost rank: they are left to the end of the process.
  if (parts_->broken) parts_->gloo.release();
#ifdef BERT_WITH_NCCL
  // NCCL's own threads must have ended before the process does; those of a broken group wait for the lost rank.
  if (!parts_->nccl) return;
  try {
    parts_->broken ? parts_->nccl->abort() : parts_->nccl->shutdown();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bert: NCCL does not end: %s\n", error.what());
  }
#endif
}

int Group::rank() const {
  return parts_->rank;
}
int Group::size() const {
  return parts_->size;
}
c10::DeviceType Group::device() const {
  return parts_->device;
}

template <typename Begin>
Pending Group::pending(const Begin& begin) {
  Pending pending;
  if (size() == 1) return pending;
  pending.state_ = std::make_shared<Pending::State>();
  pending.state_->group = parts_;
  pending.state_->work = parts_->begin(begin);
  if (!parts_->of_accelerator) {
    pending.state_->work->getFuture()->addCallback([end = pending.state_->end](c10::ivalue::Future&) { end->mark(); });
  }
  return pending;
}

Pending Group::sum(const at::Tensor& tensor) {
  std::vector<at::Tensor> tensors{tensor};
  return pending([&](auto& backend) { return backend.allreduce(tensors); });
}

Pending Group::broadcast(const at::Tensor& tensor, int from) {
  std::vector<at::Tensor> tensors{tensor};
  c10d::BroadcastOptions options;
  options.rootRank = from;
  return pending([&](auto& backend) { return backend.broadcast(tensors, options); });
}

std::vector<at::Tensor> Group::gather_all(const at::Tensor& tensor) {
  if (size() == 1) return {tensor};
  std::vector<at::Tensor> inputs{tensor};
  std::vector<std::vector<at::Tensor>> outputs(1);
  for (int rank = 0; rank < size(); ++rank) outputs[0].push_back(at::empty_like(tensor));
  pending([&](auto& backend) { return backend.allgather(outputs, inputs); }).wait();
  return outputs[0];
}

void Group::barrier() {
  pending([&](auto& backend) { return backend.barrier(); }).wait();
}

}  // namespace bert
