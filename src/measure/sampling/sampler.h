// Sampler: samples this machine, and the processes of a training on it, into a run while that goes on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "measure/machine/host_probes.h"
#include "measure/sampling/sample_buffer.h"
#include "measure/sampling/tick_loop.h"
#include "store/journal/run_folder.h"
#include "store/journal/side_writer.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::sampling {

inline constexpr std::chrono::milliseconds kDefaultHostInterval{100};
inline constexpr std::chrono::milliseconds kDefaultGpuInterval{500};

struct SamplerPlan {
  storage::Location run;
  journal::RunInfo info{};  // what is known of it, should this make it
  bool makes_run = false;   // else samples wait until a worker has made it
  machine::HostPlan host;
  std::chrono::milliseconds host_interval = kDefaultHostInterval;
  std::chrono::milliseconds gpu_interval = kDefaultGpuInterval;
};

struct SamplerResult {
  Status status;  // the first failure to write; the rest went on
  std::uint64_t lost_samples = 0;
  std::chrono::nanoseconds cpu_time{};  // of all ticks
};

// Its ticks and its writing have a thread each: a slow disk delays no tick. One thread at a time calls it.
class Sampler {
 public:
  // Begins at once. `clock` must live as long as the process.
  explicit Sampler(SamplerPlan plan, const Clock& clock = system_clock());
  ~Sampler();  // finish(false)
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Makes a last tick, and writes what there is. `completed`: what is sampled came to its end by itself.
  SamplerResult finish(bool completed);

 private:
  void write(const std::stop_token& stop);
  void write_new();
  void watch_loops();

  const bool makes_run_;
  const std::shared_ptr<SampleBuffer> buffer_;
  journal::SideWriter writer_;
  std::vector<std::unique_ptr<TickLoop>> loops_;
  Status status_;
  bool told_of_hang_ = false;
  bool finished_ = false;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace trainwarden::sampling
