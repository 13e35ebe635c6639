// Sampler: samples this machine, and the processes of a training on it, into a run while that goes on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "measure/machine/host_probes.h"
#include "measure/sampling/newest_samples.h"
#include "measure/sampling/sample_buffer.h"
#include "measure/sampling/tick_loop.h"
#include "store/journal/run_folder.h"
#include "store/journal/side_writer.h"
#include "store/storage/lease.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::sampling {

inline constexpr std::chrono::milliseconds kDefaultHostInterval{100};
inline constexpr std::chrono::milliseconds kDefaultGpuInterval{500};

inline constexpr std::size_t kSamplers = 2;  // of the host, of GPUs

struct SamplerPlan {
  storage::Location run;
  journal::RunInfo info{};  // what is known of it, should this make it
  bool makes_run = false;   // else samples wait until a worker has made it
  // Should none have made it when the sampler finishes, and it sampled for so long: it makes it then. Nothing: never.
  std::optional<std::chrono::milliseconds> makes_run_after{};
  machine::HostPlan host;
  std::chrono::milliseconds host_interval = kDefaultHostInterval;
  std::chrono::milliseconds gpu_interval = kDefaultGpuInterval;
  std::shared_ptr<NewestSamples> newest{};  // is told of each tick, for kSamplers; null: nobody asks
  bool writes = true;                       // else nothing is kept in a run
  std::string node;                         // what a scheduler calls this machine; may be empty
};

struct SamplerResult {
  Status status;  // the first failure to write; the rest went on
  std::uint64_t lost_samples = 0;
  std::chrono::nanoseconds cpu_time{};  // of all ticks
};

// Its ticks and its writing have a thread each: a slow disk delays no tick. One thread at a time calls it. When another
// sampler samples the same machine into the run, this one says so, stops, and writes nothing.
class Sampler {
 public:
  // Begins at once. `clock` must live as long as the process.
  explicit Sampler(SamplerPlan plan, const Clock& clock = system_clock());
  ~Sampler();  // finish(false)
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Makes a last tick, and writes what there is. `completed`: what is sampled came to its end by itself.
  SamplerResult finish(bool completed);
  // How often it reads from now on; nothing: not until there is an interval again. From any thread.
  void set_intervals(std::optional<std::chrono::milliseconds> host, std::optional<std::chrono::milliseconds> gpu);
  // Another samples this machine. From any thread.
  bool gave_up() const { return gave_up_; }

 private:
  void write(const std::stop_token& stop);
  void write_new(bool may_make_run);
  bool lasted() const;
  bool claim();
  void watch_loops();

  const storage::Location run_;
  std::string mark_;  // of the machine; empty: not known, or claimed by this sampler
  std::unique_ptr<storage::Lease> claim_;
  std::atomic<bool> gave_up_ = false;
  const bool makes_run_;
  const bool writes_;
  const std::optional<std::chrono::milliseconds> makes_run_after_;
  const Clock& clock_;
  const std::int64_t began_ns_;
  const std::shared_ptr<SampleBuffer> buffer_;
  journal::SideWriter writer_;
  std::vector<std::unique_ptr<TickLoop>> loops_;
  Status status_;
  bool told_of_hang_ = false;
  bool finished_ = false;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace trainwarden::sampling
