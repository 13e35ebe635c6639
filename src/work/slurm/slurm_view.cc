#include "work/slurm/slurm_view.h"

#include <utility>

#include "work/slurm/slurm_witness.h"

namespace trainwarden::slurm {

using std::chrono::steady_clock;

Result<SlurmCommands> SlurmView::commands() {
  if (!commands_) {
    TRAINWARDEN_ASSIGN_OR_RETURN(SlurmCommands found, SlurmCommands::find());
    commands_ = std::move(found);
  }
  return *commands_;
}

const std::vector<SlurmJob>* SlurmView::jobs() {
  const bool is_fresh = looked_ && steady_clock::now() - *looked_ < interval_;
  if (!is_fresh) return look_again();
  return status_.ok() ? &jobs_ : nullptr;
}

const std::vector<SlurmJob>* SlurmView::look_again() {
  const Result<SlurmCommands> commands = this->commands();
  Result<std::vector<SlurmJob>> listed = commands.ok() ? list_jobs(*commands) : commands.status();
  looked_ = steady_clock::now();
  status_ = listed.status();
  jobs_ = std::move(listed).value_or({});
  return status_.ok() ? &jobs_ : nullptr;
}

std::optional<SlurmJob> SlurmView::remembered(std::int64_t id) const {
  if (!commands_) return std::nullopt;
  const std::vector<SlurmJob> found = ask_witnesses(*commands_, {id});
  return found.empty() ? std::nullopt : std::optional<SlurmJob>(found.front());
}

}  // namespace trainwarden::slurm
