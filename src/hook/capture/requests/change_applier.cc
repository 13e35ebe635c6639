#include "hook/capture/requests/change_applier.h"

#include <vector>

#include "data/format/capture_events.h"

namespace trainwarden::capture {

void ChangeApplier::look_for_earlier() {
  for (const format::CaptureAnswer& refused : changes_->look(false)) {
    writer_.enqueue(format::encode_capture_answer(refused));
  }
}

void ChangeApplier::apply_accepted() {
  if (any_accepted()) apply();
}

void ChangeApplier::apply() {
  const Bill::Timer timer(bill_);
  CapturePlan& plan = tensors_.plan();
  std::vector<AcceptedChange> changes = changes_->take_accepted();
  for (const AcceptedChange& change : changes) plan.change(*change.plan, change.state.declared_saved);
  tensors_.update_memberships();
  bill_.start_anew(changes.back().state.options.budget);
  for (AcceptedChange& change : changes) {
    if (change.answered) continue;
    change.answer.global_step = counter_.current().global_step;
    writer_.enqueue(format::encode_capture_answer(change.answer), plan.collections());
  }
}

}  // namespace trainwarden::capture
