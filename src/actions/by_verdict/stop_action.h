// StopAction: asks the training to stop at the end of a step, and waits for its answer.
#pragma once

#include <chrono>
#include <functional>

#include "actions/by_verdict/action.h"
#include "base/clock.h"
#include "storage/storage.h"

namespace trainwarden::actions::by_verdict {

// Has the training answered? True when it has accepted this request or another one, or has ended meanwhile. Called
// again and again until it is true or fails.
using StopAnswer = std::function<Result<bool>(std::string_view key)>;

struct StopOptions {
  std::chrono::milliseconds timeout{30'000};  // for the answer; the training answers at the end of a step
  const Clock* clock = &system_clock();
  // Waits between two questions, as pause_for() does; for tests.
  std::function<void(std::chrono::milliseconds, const std::stop_token&)> pause{};
};

// Puts control/stop-<key>.json, once: a request that is there already will do as well.
class StopAction final : public Action {
 public:
  // `run_storage` is the run's and must outlive the action, as must what the options point to.
  StopAction(storage::Storage& run_storage, StopAnswer answered, StopOptions options = {});

  std::string_view name() const override { return "stop"; }
  // kDeadlineExceeded when the training does not answer in time; the request stays. kCancelled when the caller leaves.
  Status run(const ActionContext& context) override;

 private:
  Status put_request(const ActionContext& context);
  Status wait_for_answer(const ActionContext& context);
  void pause(std::chrono::milliseconds interval, const std::stop_token& stop) const;

  storage::Storage& run_storage_;
  const StopAnswer answered_;
  const StopOptions options_;
};

}  // namespace trainwarden::actions::by_verdict
