#include "cli/text_batch.h"

#include <algorithm>

#include <ATen/Functions.h>

namespace bert {

Inputs make_inputs(std::span<const Pieces* const> texts, std::int32_t padding, at::Device device) {
  std::size_t columns = 0;
  for (const Pieces* text : texts) columns = std::max(columns, text->size());
  const auto rows = static_cast<std::int64_t>(texts.size());
  at::Tensor ids = at::full({rows, static_cast<std::int64_t>(columns)}, padding, at::kLong);
  at::Tensor mask = at::zeros({rows, static_cast<std::int64_t>(columns)}, at::kLong);
  auto* id = ids.data_ptr<std::int64_t>();
  auto* seen = mask.data_ptr<std::int64_t>();
  for (const Pieces* text : texts) {
    std::copy(text->begin(), text->end(), id);
    std::fill_n(seen, text->size(), 1);
    id += columns, seen += columns;
  }
  return {.ids = ids.to(device), .attention_mask = mask.to(device), .token_types = {}};
}

}  // namespace bert
