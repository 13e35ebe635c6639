// Which rows of a matrix of tokens belong to which item of a batch, and which of them are attended to.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace bert {

// A batch of B items as one matrix with a row for each token: all of them, or only those that are no padding.
struct Rows {
  at::Tensor item_starts;     // int64 [B + 1]: where each item's rows begin, and the end of the last
  at::Tensor key_starts;      // int64 [B + 1]: where each item's part of `keys` begins
  at::Tensor keys;            // int64: the rows that are attended to, item by item
  at::Tensor tokens;          // int64 [rows]: where each row's token lies in [B · T]; undefined: row i is token i
  at::Tensor device_starts;   // item_starts as int32, where the model is; of a model on the CPU undefined
  std::int64_t max_rows = 0;  // of an item

  std::int64_t items() const { return item_starts.size(0) - 1; }
};

// `mask`: bool or int64 [B, T], not zero where a token is attended to; undefined: everywhere. An item without such a
// token attends to all of its tokens. `skip_padding`: whether the other tokens have no rows at all. `device`: the
// model's, where `tokens` are wanted. A mask on a GPU is waited for.
Rows make_rows(const at::Tensor& mask, std::int64_t batch, std::int64_t length, bool skip_padding, at::Device device);

}  // namespace bert
