#include "cli/words/word_data.h"

#include <torch/nn/functional/loss.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "cli/text_batch.h"

namespace bert {

WordBatch make_word_batch(const std::vector<MaskedPieces>& windows, std::int32_t padding, at::Device device) {
  std::vector<const Pieces*> pieces;
  for (const MaskedPieces& window : windows) pieces.push_back(&window.pieces);
  WordBatch batch{.inputs = make_inputs(pieces, padding, device), .places = {}, .asked = {}, .shares = {}};
  std::vector<std::int64_t> places, asked;
  std::vector<float> shares;
  for (std::size_t row = 0; row < windows.size(); ++row) {
    const std::int64_t begin = static_cast<std::int64_t>(row) * batch.inputs.ids.size(1);
    for (const std::size_t place : windows[row].places) places.push_back(begin + static_cast<std::int64_t>(place));
    asked.insert(asked.end(), windows[row].asked.begin(), windows[row].asked.end());
    shares.insert(shares.end(), windows[row].places.size(), 1.0f / static_cast<float>(windows[row].places.size()));
  }
  batch.places = torch::tensor(places, at::kLong).to(device);
  batch.asked = torch::tensor(asked, at::kLong).to(device);
  batch.shares = torch::tensor(shares).to(device);
  return batch;
}

WordAnswers answer_words(BertForMaskedWords& model, const WordBatch& batch, bool skip_padding) {
  namespace F = torch::nn::functional;
  const at::Tensor logits = model->forward(batch.inputs, {.skip_padding = skip_padding}, batch.places);
  const auto options = F::CrossEntropyFuncOptions().reduction(torch::kNone);
  const at::Tensor losses = F::cross_entropy(logits.to(at::kFloat), batch.asked, options);
  return {.loss = (losses * batch.shares).sum(), .hits = logits.detach().argmax(1).eq(batch.asked).sum()};
}

}  // namespace bert
