#include "watch/run_listener.h"

#include <utility>

#include "events/description.h"
#include "trial/trial_access.h"
#include "watch/context_of_run.h"

namespace trainwarden::watch {

Result<std::unique_ptr<RunListener>> RunListener::open(const storage::Location& run, std::string_view wanted,
                                                       std::function<void()> idle) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::unique_ptr<Trial> trial, TrialAccess::open(run));
  TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_writable(*trial, wanted));
  return std::unique_ptr<RunListener>(new RunListener(std::move(trial), std::move(idle)));
}

RunListener::RunListener(std::unique_ptr<Trial> trial, std::function<void()> idle)
    : trial_(std::move(trial)),
      idle_(std::move(idle)),
      ledger_(events::Ledger::in_memory(system_clock(), TrialAccess::run_info(*trial_))),
      recorder_(*trial_, TrialAccess::location(*trial_).storage(), *ledger_) {}

Result<actions::RunAnswer> RunListener::answer_to(std::string_view request_path) {
  if (idle_) idle_();
  const Status read = trial_->refresh();
  if (!read.ok() && read.code() != Code::kUnavailable) return read;  // that passes: the next look sees more
  TRAINWARDEN_RETURN_IF_ERROR(recorder_.poll());
  return recorder_.answer_to(request_path);
}

Result<std::string> RunListener::status() const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const events::RunView view, events::view_run(*trial_));
  return std::string(events::name(events::primary_of(view.table.status())));
}

actions::RunContext RunListener::context() {
  return context_of_run(*trial_, [this](std::string_view request_path) { return answer_to(request_path); });
}

}  // namespace trainwarden::watch
