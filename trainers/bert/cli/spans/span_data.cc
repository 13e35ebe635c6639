#include "cli/spans/span_data.h"

#include <algorithm>

#include <ATen/Functions.h>
#include <torch/nn/functional/loss.h>

namespace bert {

SpanBatch make_batch(std::span<const Window* const> windows, std::int64_t padding, at::Device device,
                     std::int64_t length) {
  std::int64_t columns = length;
  for (const Window* window : windows) columns = std::max(columns, static_cast<std::int64_t>(window->ids.size()));
  const auto rows = static_cast<std::int64_t>(windows.size());
  at::Tensor ids = at::full({rows, columns}, padding, at::kLong);
  at::Tensor mask = at::zeros({rows, columns}, at::kLong), types = at::zeros({rows, columns}, at::kLong);
  at::Tensor starts = at::empty({rows}, at::kLong), ends = at::empty({rows}, at::kLong);
  SpanBatch batch;
  for (std::int64_t row = 0; row < rows; ++row) {
    const Window& window = *windows[static_cast<std::size_t>(row)];
    const auto count = static_cast<std::int64_t>(window.ids.size());
    std::copy(window.ids.begin(), window.ids.end(), ids.data_ptr<std::int64_t>() + row * columns);
    std::fill_n(types.data_ptr<std::int64_t>() + row * columns + window.context_begin,
                window.ids.size() - window.context_begin, 1);
    std::fill_n(mask.data_ptr<std::int64_t>() + row * columns, count, 1);
    starts.data_ptr<std::int64_t>()[row] = static_cast<std::int64_t>(window.begin_label);
    ends.data_ptr<std::int64_t>()[row] = static_cast<std::int64_t>(window.end_label);
    batch.tokens += count;
  }
  const auto sent = [&](const at::Tensor& tensor) { return tensor.to(device, /*non_blocking=*/true); };
  batch.inputs = {.ids = sent(ids), .attention_mask = sent(mask), .token_types = sent(types)};
  batch.starts = sent(starts), batch.ends = sent(ends);
  return batch;
}

std::vector<Question> draw_questions(std::vector<Question> questions, std::int64_t count, std::uint64_t seed) {
  if (count == 0 || count >= static_cast<std::int64_t>(questions.size())) return questions;
  const double share = static_cast<double>(count) / static_cast<double>(questions.size());
  std::vector<Question> drawn;
  for (const std::size_t i : split_by_article(questions, share, seed).sample) drawn.push_back(std::move(questions[i]));
  return drawn;
}

WindowOptions window_options(const SpanOptions& options) {
  return {.max_length = static_cast<std::size_t>(options.max_length),
          .stride = static_cast<std::size_t>(options.stride),
          .max_question = static_cast<std::size_t>(options.max_question),
          .stride_means = options.stride_means == "shared" ? StrideMeans::kPiecesShared : StrideMeans::kPiecesMoved};
}

at::Tensor span_loss(const at::Tensor& logits, const SpanBatch& batch, std::int64_t real, double divisor) {
  namespace F = torch::nn::functional;
  const at::Tensor counted = logits.narrow(0, 0, real).to(at::kFloat);
  const auto options = F::CrossEntropyFuncOptions().reduction(torch::kSum);
  const at::Tensor starts = F::cross_entropy(counted.select(2, 0), batch.starts.narrow(0, 0, real), options);
  const at::Tensor ends = F::cross_entropy(counted.select(2, 1), batch.ends.narrow(0, 0, real), options);
  return (starts + ends) / (2 * divisor);
}

}  // namespace bert
