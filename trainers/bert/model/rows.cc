// Rows of a batch.
#include "model/rows.h"

#include <algorithm>
#include <vector>

#include <ATen/ops/empty.h>

namespace bert {
namespace {

at::Tensor as_tensor(const std::vector<std::int64_t>& values) {
  at::Tensor tensor = at::empty({static_cast<std::int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), tensor.data_ptr<std::int64_t>());
  return tensor;
}

}  // namespace

Rows make_rows(const at::Tensor& mask, std::int64_t batch, std::int64_t length, bool skip_padding, at::Device device) {
  const at::Tensor attended = mask.defined() ? mask.ne(0).cpu().contiguous() : at::Tensor();
  const bool* all = attended.defined() ? attended.data_ptr<bool>() : nullptr;
  std::vector<std::int64_t> item_starts{0}, key_starts{0}, keys, tokens;
  for (std::int64_t item = 0; item < batch; ++item) {
    const bool* of_item = all == nullptr ? nullptr : all + item * length;
    const bool any = of_item != nullptr && std::find(of_item, of_item + length, true) != of_item + length;
    for (std::int64_t i = 0; i < length; ++i) {
      const bool is_key = !any || of_item[i];
      if (skip_padding && !is_key) continue;
      if (is_key) keys.push_back(static_cast<std::int64_t>(tokens.size()));
      tokens.push_back(item * length + i);
    }
    item_starts.push_back(static_cast<std::int64_t>(tokens.size()));
    key_starts.push_back(static_cast<std::int64_t>(keys.size()));
  }
  Rows rows{.item_starts = as_tensor(item_starts), .key_starts = as_tensor(key_starts), .keys = as_tensor(keys)};
  for (std::size_t i = 1; i < item_starts.size(); ++i) {
    rows.max_rows = std::max(rows.max_rows, item_starts[i] - item_starts[i - 1]);
  }
  if (static_cast<std::int64_t>(tokens.size()) < batch * length) rows.tokens = as_tensor(tokens).to(device);
  if (!device.is_cpu()) rows.device_starts = rows.item_starts.to(device, at::kInt);
  return rows;
}

}  // namespace bert
