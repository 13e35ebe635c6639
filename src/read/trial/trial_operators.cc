// Trial: which operators of the framework were called in a step.

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "read/trial/trial_impl.h"
#include "trainwarden/trial.h"

namespace trainwarden {

std::vector<std::int64_t> Trial::operator_steps(std::string_view worker) const {
  trial::WorkerJournal* const found = impl_->run().find_worker(worker);
  if (found == nullptr || !found->readable()) return {};
  return found->reader().operator_steps();
}

Result<OperatorBatch> Trial::operators(std::string_view worker, std::int64_t global_step) {
  return no_throw([&]() -> Result<OperatorBatch> {
    trial::WorkerJournal* const found = impl_->run().find_worker(worker);
    if (found == nullptr || !found->readable()) {
      return Status(Code::kNotFound,
                    fmt::format("the run has no worker {}; workers() lists those that there are", printable(worker)));
    }
    return found->reader().operators(global_step);
  });
}

}  // namespace trainwarden
