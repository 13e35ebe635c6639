#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/answers/tensor_handlers.h"
#include "ui/views/step_ranges.h"

namespace trainwarden::answers {

Result<TensorRequest> use_tensor(const Request& request, const Services& services) {
  TRAINWARDEN_ASSIGN_OR_RETURN(views::OpenRun::Use use, use_run(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(std::string tensor, use.tensor_name(request.in_path("tensor")));
  return TensorRequest{std::move(use), std::move(tensor)};
}

Result<std::int64_t> step_in_path(const Request& request) {
  const std::string& text = request.in_path("step");
  const auto step = parse_int(text);
  if (step && *step >= 0) return *step;
  return Status(Code::kInvalidArgument,
                fmt::format("expected a global step in the path, a whole number, found \"{}\"", printable(text)));
}

bool is_complete(const Trial& trial, std::int64_t step) {
  return trial.step_state(step) == StepState::kAvailable;
}

std::pair<std::string, std::int64_t> mode_of_step(const Trial& trial, std::int64_t step) {
  const Mode mode = trial.mode_of(step).value_or(Mode::kGlobal);
  return {std::string(name(mode)), trial.mode_step_of(step).value_or(step)};
}

format::OrderedJson steps_json(std::span<const std::int64_t> steps) {
  return step_ranges_json(views::fold_steps(steps));
}

std::string download_name(std::string_view tensor, std::int64_t step, std::string_view suffix) {
  constexpr std::size_t kLongest = 100;
  std::string name(tensor.substr(0, kLongest));
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return !(std::isalnum(c) || c == '.' || c == '_' || c == '-') || c > 126; }, '_');
  return fmt::format("{}-step-{}{}", name, step, suffix);
}

}  // namespace trainwarden::answers
