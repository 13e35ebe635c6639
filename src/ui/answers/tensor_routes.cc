#include "ui/answers/tensor_handlers.h"

namespace trainwarden::answers {

std::vector<Route> tensor_routes() {
  const std::string one = "/runs/{run}/tensors/{tensor}";
  return {
      {Method::kGet, "/runs/{run}/tensors", answer_tensor_list},
      {Method::kGet, "/runs/{run}/statistics", answer_newest_statistics},
      {Method::kGet, one, answer_tensor},
      {Method::kGet, one + "/statistics", answer_statistics_over_steps},
      {Method::kGet, one + "/histograms", answer_histograms},
      {Method::kGet, one + "/pictures", answer_pictures},
      {Method::kGet, one + "/steps/{step}/statistics", answer_statistics},
      {Method::kGet, one + "/steps/{step}/value", answer_value},
  };
}

}  // namespace trainwarden::answers
