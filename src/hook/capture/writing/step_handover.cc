#include "hook/capture/writing/step_handover.h"

#include <utility>

#include <fmt/format.h>

namespace trainwarden::capture {

void StepHandover::end_step(const StepId& id) {
  devices_.free_discarded();
  if (auto step = intake_.step().end(id)) submit(std::move(step));
}

void StepHandover::submit(std::unique_ptr<StagedStep> step) {
  const Bill::Timer timer(bill_);
  if (writer_.submit(step, intake_.may_wait())) return;
  intake_.step().lose(*step);
  intake_.losses().add(LossCause::kStagingFull, step->item_count(), step->tensor_bytes(), [&] {
    return fmt::format("step {}: too many steps wait for the writer", step->id.global_step);
  });
  devices_.discard(std::move(step));
}

}  // namespace trainwarden::capture
