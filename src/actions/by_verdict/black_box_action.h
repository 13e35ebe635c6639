// BlackBoxAction: asks the training process for the steps that led to a verdict.
#pragma once

#include "actions/by_verdict/action.h"
#include "base/clock.h"
#include "storage/storage.h"

namespace trainwarden::actions::by_verdict {

// Puts control/blackbox-<key>.json, once, and does not wait: what comes of it is an event in the worker's journal, and
// a folder in blackbox/ (docs/format/black_box.md). Before the action that stops the training, which answers both in
// the order in which they were asked.
class BlackBoxAction final : public Action {
 public:
  // `run_storage` is the run's; it and `clock` must outlive the action.
  explicit BlackBoxAction(storage::Storage& run_storage, const Clock& clock = system_clock())
      : run_storage_(run_storage), clock_(clock) {}

  // Has a worker of this run a black box?
  static bool is_of_use(const storage::Storage& run_storage);

  std::string_view name() const override { return "black_box"; }
  Status run(const ActionContext& context) override;

 private:
  storage::Storage& run_storage_;
  const Clock& clock_;
};

}  // namespace trainwarden::actions::by_verdict
