#include "ui/cli/running/live_export.h"

#include <chrono>
#include <memory>

#include "core/base/pause.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kAppearInterval{50};
constexpr std::chrono::milliseconds kPollInterval{500};

}  // namespace

LiveExport::LiveExport(std::filesystem::path run, std::filesystem::path board)
    : run_(std::move(run)), board_(std::move(board)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

Result<ExportReport> LiveExport::result() {
  thread_.request_stop();
  thread_.join();
  return std::move(result_);
}

void LiveExport::work(const std::stop_token& stop) {
  try {
    result_ = follow(stop);
  } catch (const std::exception& error) {
    result_ = Status(Code::kInternal, error.what());
  }
}

Result<ExportReport> LiveExport::follow(const std::stop_token& stop) {
  auto trial = Trial::open(run_);
  while (!trial.ok() && trial.status().code() == Code::kNotFound && !stop.stop_requested()) {
    pause_for(kAppearInterval, stop);
    trial = Trial::open(run_);
  }
  if (!trial.ok()) return trial.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto exported,
                               Export::start(**trial, {.format = ExportFormat::kTensorBoard, .out = board_}));
  while (true) {
    // Asked for before the look, so that what came in between is seen.
    const bool last_look = stop.stop_requested();
    const Status status = exported->poll();
    if (!status.ok() && status.code() != Code::kUnavailable) return status;
    if (last_look || exported->run_ended()) return exported->finish();
    pause_for(kPollInterval, stop);
  }
}

}  // namespace trainwarden::cli
