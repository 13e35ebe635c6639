#include "cli/board.h"

#include <cstdio>
#include <stdexcept>

namespace bert {

void Board::update(trainwarden::Hook& hook) {
  if (failed_) return;
  if (!export_) begin(hook);
  trainwarden::Status status = hook.flush();
  if (status.ok()) status = export_->poll();
  if (!status.ok() && status.code() != trainwarden::Code::kUnavailable) tell(status);
}

void Board::finish() {
  if (failed_ || !export_) return;
  trainwarden::Status status = export_->poll();
  if (status.ok()) status = export_->finish().status();
  if (!status.ok()) tell(status);
}

void Board::begin(trainwarden::Hook& hook) {
  if (!hook.report().on) {
    throw std::runtime_error("TensorBoard is to show what is captured, and nothing is: " + hook.report().off_reason);
  }
  auto trial = trainwarden::Trial::open(hook.options().run_dir);
  if (!trial.ok()) throw std::runtime_error("the run cannot be read: " + trial.status().to_string());
  trial_ = *std::move(trial);
  auto started = trainwarden::Export::start(
      *trial_, {.format = trainwarden::ExportFormat::kTensorBoard, .out = folder_, .texts = false});
  if (!started.ok()) throw std::runtime_error("TensorBoard's files: " + started.status().to_string());
  export_ = *std::move(started);
}

void Board::tell(const trainwarden::Status& status) {
  failed_ = true;
  std::fprintf(stderr, "TensorBoard's files in %s end here: %s\n", folder_.c_str(), status.to_string().c_str());
}

}  // namespace bert
