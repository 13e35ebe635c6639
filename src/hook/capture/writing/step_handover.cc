#include "hook/capture/writing/step_handover.h"

#include <utility>

#include <fmt/format.h>

namespace trainwarden::capture {

// Another thread could not know which step is open.
void StepHandover::take_part() {
  if (driver_.load(std::memory_order_relaxed) != std::this_thread::get_id() || whole_) return;
  if (auto part = intake_.step().take_part(counter_.current())) submit(std::move(part));
}

void StepHandover::end_step(const StepId& id) {
  driver_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  devices_.free_discarded();
  const Bill::Timer timer(bill_);
  if (auto step = intake_.step().end(id)) submit(std::move(step));
}

void StepHandover::submit(std::unique_ptr<StagedStep> step) {
  if (writer_.submit(step, intake_.may_wait())) return;
  intake_.step().lose(*step);
  intake_.losses().add(LossCause::kStagingFull, step->item_count(), step->tensor_bytes(), [&] {
    return fmt::format("step {}: too many steps wait for the writer", step->id.global_step);
  });
  devices_.discard(std::move(step));
}

}  // namespace trainwarden::capture
