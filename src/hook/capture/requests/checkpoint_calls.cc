#include "hook/capture/requests/checkpoint_calls.h"

#include <algorithm>

#include "core/base/log.h"
#include "hook/capture/requests/checkpoint_file.h"

namespace trainwarden::capture {

void CheckpointCalls::look_for_earlier() {
  writer_.enqueue(requests_->look(false, last_step()));
}

std::optional<CheckpointRequest> CheckpointCalls::take() {
  CheckpointRequests::Events accepted;
  auto request = requests_->take(last_step(), accepted);
  writer_.enqueue(accepted);
  return request;
}

void CheckpointCalls::answer(const CheckpointRequest& request, const Result<std::filesystem::path>& saved) {
  const CheckpointRequests::Events answers = requests_->answer(request.key, saved);
  for (const format::CheckpointEvent& answer : answers) {
    if (answer.state == format::CheckpointState::kSaved) {
      log(LogLevel::kInfo, "a checkpoint was saved on request ({}): {}", answer.reason, answer.path);
    } else {
      log(LogLevel::kWarning, "a checkpoint was asked for and could not be saved: {}", answer.error);
    }
  }
  writer_.enqueue(answers);
}

Result<std::filesystem::path> CheckpointCalls::write(
    std::string_view ending, const std::function<Status(const std::filesystem::path&)>& write_file) const {
  const std::int64_t step = std::max<std::int64_t>(0, last_step());
  return write_checkpoint_file({requests_->run_dir(), step, rank_, ending}, write_file);
}

}  // namespace trainwarden::capture
