#include "ui/views/run_failure.h"

#include "react/events/description.h"

namespace trainwarden::views {

std::string failure_of(Trial& trial) {
  const auto view = events::view_run(trial);
  const bool has_failed = view.ok() && !view->table.empty() && view->table.status() == events::SecondaryStatus::kFailed;
  return has_failed ? view->failure_reason() : std::string();
}

}  // namespace trainwarden::views
