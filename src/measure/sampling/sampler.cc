#include "measure/sampling/sampler.h"

#include <utility>

#include "core/base/host_name.h"
#include "core/base/log.h"
#include "core/base/pause.h"
#include "measure/machine/gpu_probes.h"

namespace trainwarden::sampling {
namespace {

// Who looks at a live chart waits so long for it; a frame costs some hundred bytes beside its samples.
constexpr std::chrono::milliseconds kWriteInterval{2000};
constexpr std::chrono::seconds kHang{10};  // who has waited for the system for so long is said to hang

std::vector<TickLoopPlan> plan_loops(SamplerPlan plan) {
  if (plan.host.host.empty()) plan.host.host = host_name();
  std::vector<TickLoopPlan> loops;
  loops.push_back({"host", 0, [host = plan.host] { return machine::host_probes(host); }, plan.host_interval});
  loops.push_back({"gpu", 1, [] { return machine::open_gpu_probes(); }, plan.gpu_interval});
  return loops;
}

journal::SideWriterPlan writer_plan(const SamplerPlan& plan) {
  return {.run = plan.run,
          .info = plan.info,
          .makes_run = plan.makes_run,
          .name_of = journal::machine_name,
          .first = 0,
          .last = journal::kMaxMachines - 1};
}

}  // namespace

Sampler::Sampler(SamplerPlan plan, const Clock& clock)
    : makes_run_(plan.makes_run), buffer_(std::make_shared<SampleBuffer>(2)), writer_(writer_plan(plan), clock) {
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
    write_new();  // with the last tick
    if (const Status ended = writer_.finish(completed); status_.ok()) status_ = ended;
  }
  SamplerResult result{status_, buffer_->lost_samples(), {}};
  for (const auto& loop : loops_) result.cpu_time += loop->cpu_time();
  return result;
}

void Sampler::write(const std::stop_token& stop) {
  for (;;) {
    pause_for(kWriteInterval, stop);
    if (stop.stop_requested()) return;
    write_new();
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

// What cannot be written is lost, and counted; what follows is tried anew.
void Sampler::write_new() {
  if (!makes_run_ && !writer_.has_run()) return;
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
