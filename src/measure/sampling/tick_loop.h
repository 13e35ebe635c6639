// TickLoop: reads probes at ticks, in a thread of its own, and says what that costs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "measure/machine/probe.h"
#include "measure/sampling/newest_samples.h"
#include "measure/sampling/sample_buffer.h"

namespace trainwarden::sampling {

class TickSchedule;

struct TickLoopPlan {
  std::string name;        // "host": the instance of the sampler's own metrics
  std::size_t number = 0;  // of the sampler, for the buffer
  // Called in the loop's thread, where it may hang as its probes may. Nothing to read: the loop ends.
  std::function<std::vector<std::unique_ptr<machine::Probe>>()> open;
  std::chrono::nanoseconds interval{};
  std::shared_ptr<NewestSamples> newest{};  // is told too; null: nobody asks
};

// One thread at a time; stop() from any, where the first that comes waits for the loop.
class TickLoop {
 public:
  // The first ticks read every probe: of a program that ends within a second or two all is known.
  static constexpr std::uint64_t kWholeTicks = 20;

  // `clock` must live as long as the process.
  TickLoop(TickLoopPlan plan, std::shared_ptr<SampleBuffer> buffer, const Clock& clock);
  ~TickLoop();  // stop()
  TickLoop(const TickLoop&) = delete;
  TickLoop& operator=(const TickLoop&) = delete;

  // Makes a last tick. A thread that does not come back from its probes (a driver hangs) is left alone after a second;
  // what it uses stays as it is.
  void stop();
  // From now on; nothing: it reads nothing until there is an interval again, and makes no last tick. From any thread.
  void set_interval(std::optional<std::chrono::nanoseconds> interval);
  const std::string& name() const;
  // It has been in its probes for longer than this.
  bool hangs(std::chrono::nanoseconds longer_than) const;
  std::chrono::nanoseconds cpu_time() const;  // that its ticks took so far

 private:
  struct State;
  enum class Due { kTick, kLastTick, kNever };
  static Due await_tick(State& state, TickSchedule& schedule);
  static void run(const std::shared_ptr<State>& state);
  static void tick(State& state, const std::vector<std::unique_ptr<machine::Probe>>& probes);

  std::shared_ptr<State> state_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace trainwarden::sampling
