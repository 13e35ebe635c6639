#include "ui/cli/running/watched_program.h"

#include <memory>
#include <utility>

#include "ui/cli/commands/exit_code.h"
#include "ui/cli/running/live_export.h"
#include "ui/cli/running/run_page.h"

namespace trainwarden::cli {
namespace {

// What is seen of it; TensorBoard is shown the run from its start on.
class ProgramView final : public WatchView {
 public:
  explicit ProgramView(const ProgramPlan& plan) : WatchView(stderr, plan.chatter), board_folder_(plan.board.folder) {}

  void on_start(const std::filesystem::path& run) override {
    if (!board_folder_.empty()) board_ = std::make_unique<LiveExport>(run, board_folder_);
  }

  std::optional<Result<ExportReport>> board() { return board_ ? std::optional(board_->result()) : std::nullopt; }

 private:
  const std::filesystem::path board_folder_;
  std::unique_ptr<LiveExport> board_;
};

}  // namespace

int ProgramResult::combined_exit_code() const {
  const int own = exit.shell_code();
  const bool fired = judging.report.any_fired();
  return fired && (own == 0 || judging.stop_requested) ? kExitRuleFired : own;
}

Result<ProgramResult> run_watched(const ProgramPlan& plan, std::vector<rules::EngineRule> rules) {
  process::SignalRelay relay;  // before any thread
  std::unique_ptr<server::Server> page;
  if (plan.page_port) page = open_run_page(plan.run, *plan.page_port);
  ProgramView view(plan);
  TRAINWARDEN_ASSIGN_OR_RETURN(launch::LaunchResult launched, launch::launch(plan, std::move(rules), view, relay));
  ProgramResult result;
  static_cast<launch::LaunchResult&>(result) = std::move(launched);
  result.board = view.board();
  return result;
}

}  // namespace trainwarden::cli
