#include "measure/sampling/tick_loop.h"

#include <ctime>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/log.h"
#include "measure/sampling/tick_schedule.h"
#include "measure/sampling/tick_times.h"

namespace trainwarden::sampling {
namespace {

constexpr std::int64_t kNsPerUs = 1000;
constexpr double kUsPerSecond = 1e6;
constexpr std::chrono::seconds kPatience{1};

std::int64_t thread_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// What a sampler says of itself.
class OwnMetrics {
 public:
  OwnMetrics(machine::Reading& reading, const std::string& sampler)
      : reading_(reading),
        lateness_(reading.id_of({"sampler.lateness", "seconds", MetricKind::kGauge, MetricSource::kProcess, sampler})),
        cpu_(reading.id_of({"sampler.cpu", "seconds", MetricKind::kCounter, MetricSource::kProcess, sampler})),
        missed_(reading.id_of({"sampler.missed_ticks", "", MetricKind::kCounter, MetricSource::kProcess, sampler})),
        jumps_(reading.id_of({"sampler.clock_jumps", "", MetricKind::kCounter, MetricSource::kProcess, sampler})),
        lost_(reading.id_of({"sampler.lost_samples", "", MetricKind::kCounter, MetricSource::kProcess, sampler})) {}

  void set_lateness(std::int64_t late_ns) { reading_.set(lateness_, seconds(late_ns)); }
  void set_sums(std::int64_t cpu_ns, std::int64_t missed, std::int64_t jumps, std::uint64_t lost) {
    reading_.set(cpu_, seconds(cpu_ns));
    reading_.set(missed_, static_cast<double>(missed));
    reading_.set(jumps_, static_cast<double>(jumps));
    reading_.set(lost_, static_cast<double>(lost));
  }
  // At each n-th tick.
  static constexpr std::uint64_t kSumsEvery = 10;

 private:
  // To a microsecond, which takes half the room on disk.
  static double seconds(std::int64_t ns) { return static_cast<double>(ns / kNsPerUs) / kUsPerSecond; }

  machine::Reading& reading_;
  const std::uint32_t lateness_, cpu_, missed_, jumps_, lost_;
};

}  // namespace

struct TickLoop::State {
  TickLoopPlan plan;
  std::shared_ptr<SampleBuffer> buffer;
  const Clock& clock;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<std::chrono::nanoseconds> interval;  // guarded by mutex, as are the next
  bool interval_changed = false;
  bool stop_asked = false;
  bool ended = false;
  std::atomic<std::int64_t> in_probes_since_ns = 0;  // steady; 0: it waits
  std::atomic<std::int64_t> cpu_ns = 0;
};

TickLoop::TickLoop(TickLoopPlan plan, std::shared_ptr<SampleBuffer> buffer, const Clock& clock)
    : state_(new State{std::move(plan), std::move(buffer), clock, {}, {}, {}}) {
  state_->interval = state_->plan.interval;
  std::thread([state = state_] { run(state); }).detach();
}

TickLoop::~TickLoop() {
  stop();
}

void TickLoop::stop() {
  if (stopped_.exchange(true)) return;
  std::unique_lock lock(state_->mutex);
  state_->stop_asked = true;
  state_->changed.notify_all();
  if (state_->changed.wait_for(lock, kPatience, [this] { return state_->ended; })) return;
  log(LogLevel::kWarning, "the sampler of {} does not come back from the system; its last samples are missing",
      state_->plan.name);
}

void TickLoop::set_interval(std::optional<std::chrono::nanoseconds> interval) {
  const std::lock_guard lock(state_->mutex);
  if (state_->interval == interval) return;
  state_->interval = interval;
  state_->interval_changed = true;
  state_->changed.notify_all();
}

const std::string& TickLoop::name() const {
  return state_->plan.name;
}

bool TickLoop::hangs(std::chrono::nanoseconds longer_than) const {
  const std::int64_t since_ns = state_->in_probes_since_ns.load();
  return since_ns != 0 && state_->clock.steady_ns() - since_ns > longer_than.count();
}

std::chrono::nanoseconds TickLoop::cpu_time() const {
  return std::chrono::nanoseconds(state_->cpu_ns.load());
}

void TickLoop::run(const std::shared_ptr<State>& state) {
  State& s = *state;
  s.in_probes_since_ns = s.clock.steady_ns();
  const auto probes = s.plan.open();
  s.in_probes_since_ns = 0;
  if (!probes.empty()) tick(s, probes);
  const std::lock_guard lock(s.mutex);
  s.ended = true;
  s.changed.notify_all();
}

TickLoop::Due TickLoop::await_tick(State& s, TickSchedule& schedule) {
  std::unique_lock lock(s.mutex);
  const auto is_news = [&s] { return s.stop_asked || s.interval_changed; };
  for (;;) {
    if (s.stop_asked) return s.interval ? Due::kLastTick : Due::kNever;
    if (s.interval && s.interval_changed) schedule.begin_anew(s.clock.steady_ns(), s.interval->count());
    s.interval_changed = false;
    if (!s.interval) {
      s.changed.wait(lock, is_news);
      continue;
    }
    const auto wait = std::chrono::nanoseconds(schedule.next_ns() - s.clock.steady_ns());
    if (wait.count() <= 0 || !s.changed.wait_for(lock, wait, is_news)) return Due::kTick;
  }
}

void TickLoop::tick(State& s, const std::vector<std::unique_ptr<machine::Probe>>& probes) {
  machine::Reading reading;
  OwnMetrics own(reading, s.plan.name);
  TickTimes times(s.clock);
  TickSchedule schedule(s.clock.steady_ns(), s.plan.interval.count());
  std::uint64_t ticks = 0;
  for (bool last = false; !last; ++ticks) {
    const Due due = await_tick(s, schedule);
    if (due == Due::kNever) break;
    last = due == Due::kLastTick;
    const std::int64_t begin_ns = s.clock.steady_ns();
    s.in_probes_since_ns = begin_ns;
    reading.begin_tick();
    for (const auto& probe : probes) {
      const bool is_due = ticks % static_cast<std::uint64_t>(probe->every()) == 0;
      if (is_due || last || ticks < TickLoop::kWholeTicks) probe->read(reading);
    }
    s.in_probes_since_ns = 0;
    own.set_lateness(last ? 0 : begin_ns - schedule.next_ns());
    if (last || ticks % OwnMetrics::kSumsEvery == 0) {
      s.cpu_ns = thread_cpu_ns();
      own.set_sums(s.cpu_ns, schedule.missed(), times.jumps(), s.buffer->lost_samples());
    }
    s.buffer->take(s.plan.number, reading, times.now());
    if (s.plan.newest) s.plan.newest->take(s.plan.number, reading, begin_ns);
    schedule.made(s.clock.steady_ns());
  }
  s.cpu_ns = thread_cpu_ns();
}

}  // namespace trainwarden::sampling
