// What answers the addresses of tensors, for tensor_routes.cc.
#pragma once

#include "ui/answers/replies.h"

namespace trainwarden::answers {

// tensor_list_handlers.cc
Result<Reply> answer_tensor_list(const Request& request, const Services& services);
Result<Reply> answer_tensor(const Request& request, const Services& services);

// tensor_number_handlers.cc
Result<Reply> answer_newest_statistics(const Request& request, const Services& services);
Result<Reply> answer_statistics_over_steps(const Request& request, const Services& services);
Result<Reply> answer_statistics(const Request& request, const Services& services);
Result<Reply> answer_histograms(const Request& request, const Services& services);

// tensor_value_handlers.cc
Result<Reply> answer_value(const Request& request, const Services& services);
Result<Reply> answer_pictures(const Request& request, const Services& services);

// tensor_request.cc: what they share.

// The run and the tensor that the path names.
struct TensorRequest {
  views::OpenRun::Use use;
  std::string tensor;
};
Result<TensorRequest> use_tensor(const Request& request, const Services& services);
// {step} of the path, a global step. kInvalidArgument.
Result<std::int64_t> step_in_path(const Request& request);
// Does every worker have the step? Then what is said of it stays.
bool is_complete(const Trial& trial, std::int64_t step);
// "train" and the step of the mode, for words beside a global step; "global" and the step itself when the run has
// none of it.
std::pair<std::string, std::int64_t> mode_of_step(const Trial& trial, std::int64_t step);
// [[first, stride, count], ...]
format::OrderedJson steps_json(std::span<const std::int64_t> steps);
// "conv0_weight-step-100.npy" of a tensor's name, with no byte that a file's name may not have.
std::string download_name(std::string_view tensor, std::int64_t step, std::string_view suffix);

}  // namespace trainwarden::answers
