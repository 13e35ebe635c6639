// Questions as batches of tensors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cli/spans/span_options.h"
#include "model/model.h"
#include "squad/windows.h"

namespace bert {

// So many of the questions, drawn by the seed from each article; 0: all.
std::vector<Question> draw_questions(std::vector<Question> questions, std::int64_t count, std::uint64_t seed);

WindowOptions window_options(const SpanOptions& options);

struct SpanBatch {
  Inputs inputs;            // [B, T] each
  at::Tensor starts, ends;  // int64 [B]: positions of the answer, 0 and 0 without one
  std::int64_t tokens = 0;  // that are no padding
};

// Pads with `padding`: to the longest window of the batch, or to `length` where that is more.
SpanBatch make_batch(std::span<const Window* const> windows, std::int64_t padding, at::Device device,
                     std::int64_t length = 0);

// Mean of the losses of starts and ends over all positions (Devlin et al. 2018, section 4.2). `logits`: [B, T, 2], of
// any floating type; the loss is float32. `real`: only the first so many items count; the sum over them is divided by
// `divisor`.
at::Tensor span_loss(const at::Tensor& logits, const SpanBatch& batch, std::int64_t real, double divisor);

}  // namespace bert
