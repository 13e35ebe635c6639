// CheckpointCalls: how the training takes, writes and answers requests for checkpoints; the run is notified of each.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "hook/capture/requests/checkpoint_requests.h"
#include "hook/capture/step_counter.h"
#include "hook/capture/writing/step_writer.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

// By the thread that drives training.
class CheckpointCalls {
 public:
  // All must outlive this, but for the writer.
  CheckpointCalls(std::unique_ptr<CheckpointRequests> requests, int rank, const StepCounter& counter,
                  StepWriter& writer)
      : requests_(std::move(requests)), rank_(rank), counter_(counter), writer_(writer) {}

  // For the writer thread, which looks for them.
  CheckpointRequests& requests() { return *requests_; }
  // As ChangeApplier::look_for_earlier().
  void look_for_earlier();

  // As of Hook.
  void offer() { requests_->offer(); }
  bool any() const { return requests_->any(); }
  std::optional<CheckpointRequest> take();
  void answer(const CheckpointRequest& request, const Result<std::filesystem::path>& saved);
  Result<std::filesystem::path> write(std::string_view ending,
                                      const std::function<Status(const std::filesystem::path&)>& write_file) const;

 private:
  std::int64_t last_step() const { return counter_.current().global_step - 1; }

  const std::unique_ptr<CheckpointRequests> requests_;
  const int rank_;
  const StepCounter& counter_;
  StepWriter& writer_;
};

}  // namespace trainwarden::capture
