#include "batch.h"

namespace tiny_bert {

Batch make_batch(const std::vector<const Sequence*>& sequences, Masker& masker) {
  std::vector<std::int64_t> pieces, segments, answers;
  for (const Sequence* sequence : sequences) {
    const MaskedPieces masked = masker.mask(sequence->pieces);
    pieces.insert(pieces.end(), masked.input.begin(), masked.input.end());
    answers.insert(answers.end(), masked.answers.begin(), masked.answers.end());
    segments.insert(segments.end(), sequence->segments.begin(), sequence->segments.end());
  }
  const auto items = static_cast<std::int64_t>(sequences.size());
  const torch::Tensor all_answers = torch::tensor(answers, torch::kInt64);
  const torch::Tensor asked = all_answers.ne(kNotAsked).nonzero().flatten();
  return {.pieces = torch::tensor(pieces, torch::kInt64).view({items, -1}),
          .segments = torch::tensor(segments, torch::kInt64).view({items, -1}),
          .asked = asked,
          .answers = all_answers.index_select(0, asked)};
}

}  // namespace tiny_bert
