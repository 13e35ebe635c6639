#include "hook/capture/black_box/box_recorder.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/text.h"

namespace trainwarden::capture {

Status BoxRecorder::create(const BlackBoxOptions& options, std::optional<BoxHead> head,
                           std::shared_ptr<storage::Storage> storage, const Clock& clock) {
  if (options.steps == 0) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(box_, BlackBox::create(options, tensors_.table(), tensors_.plan(), clock));
  dumper_ = std::make_unique<BoxDumper>(std::move(storage), head ? *std::move(head) : BoxHead(), *box_, clock);
  writer_.write_dumps_with(*dumper_);
  return Status();
}

void BoxRecorder::catch_signals(const std::filesystem::path& run_dir) {
  if (box_ == nullptr) return;
  auto installed = CrashWriter::install(run_dir, dumper_->head(), *box_);
  if (installed.ok()) {
    crash_writer_ = *std::move(installed);
  } else {
    log(LogLevel::kWarning, "the black box is not written when the process dies on a signal: {}",
        installed.status().to_string());
  }
}

void BoxRecorder::begin_step(const StepId& id) {
  if (box_ != nullptr) box_->begin_step(id);
}

// Half of the budget is the black box's, so that it does not cost the run its statistics.
void BoxRecorder::end_step(const StepId& id) {
  if (box_ == nullptr) return;
  {
    const Bill::Timer timer(bill_);
    box_->end_step();
    box_->keep_to(budget_ / 2);
  }
  if (const BoxLabel* const loss = box_->take_broken_loss()) {
    dump({.kind = "loss",
          .message = fmt::format("{} is not a finite number", printable(loss->name)),
          .failing_step = id.global_step});
  }
}

bool BoxRecorder::dump(const BlackBoxReason& reason) {
  if (box_ == nullptr || !state_.is_on()) return false;
  const Bill::Timer timer(bill_);
  if (dumper_->has_begun_with(reason.failing_step)) return true;
  auto step = std::make_unique<StagedStep>(staging_);
  step->dump = dumper_->begin(reason);
  return step->dump != nullptr && writer_.submit(step, false);
}

void BoxRecorder::add_to(BlackBoxReport& report) const {
  if (box_ == nullptr) return;
  box_->add_to(report);
  report.dumps = dumper_->written();
}

}  // namespace trainwarden::capture
