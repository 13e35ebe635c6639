#include "react/watch/run_listener.h"

#include <utility>

#include "react/events/description.h"
#include "react/watch/context_of_run.h"
#include "read/trial/trial_access.h"

namespace trainwarden::watch {

Result<std::unique_ptr<RunListener>> RunListener::open(const storage::Location& run, std::string_view wanted,
                                                       std::function<void()> idle) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::unique_ptr<Trial> trial, TrialAccess::open(run));
  TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_writable(*trial, wanted));
  std::unique_ptr<RunListener> listener(new RunListener(std::move(trial), std::move(idle)));
  TRAINWARDEN_ASSIGN_OR_RETURN(listener->pipeline_, RunPipeline::open(*listener->trial_, LedgerUse::kMemory));
  return listener;
}

Result<actions::RunAnswer> RunListener::answer_to(const format::RequestId& request) {
  if (idle_) idle_();
  const Status read = trial_->refresh();
  if (!read.ok() && read.code() != Code::kUnavailable) return read;  // that passes: the next look sees more
  TRAINWARDEN_RETURN_IF_ERROR(pipeline_->record());
  return pipeline_->recorder().answer_to(request);
}

Result<std::string> RunListener::status() const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const events::RunView view, events::view_run(*trial_));
  return std::string(events::name(events::primary_of(view.table.status())));
}

actions::RunContext RunListener::context() {
  return context_of_run(*trial_, [this](const format::RequestId& request) { return answer_to(request); });
}

}  // namespace trainwarden::watch
