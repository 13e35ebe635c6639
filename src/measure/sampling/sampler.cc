#include "measure/sampling/sampler.h"

#include <utility>

#include "core/base/host_name.h"
#include "core/base/log.h"
#include "core/base/pause.h"
#include "measure/machine/gpu_probes.h"
#include "measure/sampling/machine_claim.h"

namespace trainwarden::sampling {
namespace {

// Who looks at a live chart waits so long for it; a frame costs some hundred bytes beside its samples.
constexpr std::chrono::milliseconds kWriteInterval{2000};
constexpr std::chrono::seconds kHang{10};  // who has waited for the system for so long is said to hang

constexpr std::size_t kHost = 0, kGpu = 1;  // the loops, by their number

std::vector<TickLoopPlan> plan_loops(SamplerPlan plan) {
  if (plan.host.host.empty()) plan.host.host = host_name();
  std::vector<TickLoopPlan> loops;
  loops.push_back(
      {"host", kHost, [host = plan.host] { return machine::host_probes(host); }, plan.host_interval, plan.newest});
  loops.push_back({"gpu", kGpu, [] { return machine::open_gpu_probes(); }, plan.gpu_interval, plan.newest});
  return loops;
}

journal::SideWriterPlan writer_plan(const SamplerPlan& plan) {
  return {.run = plan.run,
          .info = plan.info,
          .makes_run = plan.makes_run || plan.makes_run_after.has_value(),
          .name_of = journal::machine_name,
          .first = 0,
          .last = journal::kMaxMachines - 1};
}

}  // namespace

Sampler::Sampler(SamplerPlan plan, const Clock& clock)
    : run_(plan.run),
      mark_(machine_mark(plan.host.root, plan.host.host.empty() ? host_name() : plan.host.host, plan.node)),
      makes_run_(plan.makes_run),
      writes_(plan.writes),
      makes_run_after_(plan.makes_run_after),
      clock_(clock),
      began_ns_(clock.steady_ns()),
      buffer_(std::make_shared<SampleBuffer>(kSamplers)),
      writer_(writer_plan(plan), clock) {
  for (TickLoopPlan& loop : plan_loops(std::move(plan))) {
    loops_.push_back(std::make_unique<TickLoop>(std::move(loop), buffer_, clock));
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { write(stop); });
}

Sampler::~Sampler() {
  finish(false);
}

SamplerResult Sampler::finish(bool completed) {
  if (!std::exchange(finished_, true)) {
    for (const auto& loop : loops_) loop->stop();
    thread_.request_stop();
    thread_.join();
    write_new(makes_run_ || lasted());  // with the last tick
    if (const Status ended = writer_.finish(completed); status_.ok()) status_ = ended;
    if (claim_) [[maybe_unused]]
      const Status given_back = claim_->end();
    claim_.reset();
  }
  SamplerResult result{status_, buffer_->lost_samples(), {}};
  for (const auto& loop : loops_) result.cpu_time += loop->cpu_time();
  return result;
}

void Sampler::set_intervals(std::optional<std::chrono::milliseconds> host,
                            std::optional<std::chrono::milliseconds> gpu) {
  loops_[kHost]->set_interval(host);
  loops_[kGpu]->set_interval(gpu);
}

bool Sampler::lasted() const {
  const std::chrono::nanoseconds passed(clock_.steady_ns() - began_ns_);
  return makes_run_after_ && passed >= *makes_run_after_;
}

void Sampler::write(const std::stop_token& stop) {
  if (writes_ && writer_.has_run() && !claim()) return;
  for (;;) {
    pause_for(kWriteInterval, stop);
    if (stop.stop_requested()) return;
    write_new(makes_run_);
    watch_loops();
  }
}

// The other loop goes on; what this one measures is missing until the system answers.
void Sampler::watch_loops() {
  for (const auto& loop : loops_) {
    if (told_of_hang_ || !loop->hangs(kHang)) continue;
    told_of_hang_ = true;
    log(LogLevel::kWarning, "the sampler of {} gets no answer from the system: its metrics are missing meanwhile",
        loop->name());
  }
}

// Where a claim cannot be made for another reason, samples are worth more than the certainty that they are there once.
bool Sampler::claim() {
  if (gave_up_) return false;
  if (claim_) {
    [[maybe_unused]] const Status beaten = claim_->beat();  // the lock holds on this machine
    return true;
  }
  if (mark_.empty() || !writer_.has_run()) return true;
  auto claimed = claim_machine(run_, mark_, clock_);
  if (claimed.ok()) {
    claim_ = *std::move(claimed);
    return true;
  }
  mark_.clear();
  if (claimed.status().code() != Code::kAlreadyExists) return true;
  status_ = claimed.status();
  gave_up_ = true;
  for (const auto& loop : loops_) loop->stop();
  return false;
}

// What cannot be written is lost, and counted; what follows is tried anew.
void Sampler::write_new(bool may_make_run) {
  if (!writes_) {
    buffer_->drain();
    return;
  }
  if (!may_make_run && !writer_.has_run()) return;
  if (!claim()) {
    buffer_->drain();
    return;
  }
  const journal::SampleBatch batch = buffer_->drain();
  const Status written = writer_.append(batch);
  writer_.beat();
  if (written.ok()) return;
  buffer_->lose(batch);
  if (!status_.ok()) return;
  status_ = written;
  log(LogLevel::kWarning, "what this machine does is not kept in the run: {}", written.to_string());
}

}  // namespace trainwarden::sampling
