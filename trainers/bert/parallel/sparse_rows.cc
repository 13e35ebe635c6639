// Gathers the rows of all ranks, each padded to the most that one has.
#include "parallel/sparse_rows.h"

#include <ATen/Functions.h>

#include <algorithm>

namespace bert {

MeanOfRows mean_of_rows(Group& group, const at::Tensor& gradient) {
  const at::Tensor mine = gradient.coalesce();
  if (group.size() == 1) return {mine};
  const at::Tensor indices = mine.indices()[0];
  const at::Tensor values = mine.values() / group.size();
  std::vector<std::int64_t> counts;
  for (const at::Tensor& count : group.gather_all(at::full({1}, indices.size(0), at::kLong))) {
    counts.push_back(count.item<std::int64_t>());
  }
  const std::int64_t most = *std::max_element(counts.begin(), counts.end());
  if (most == 0) return {mine};
  std::vector<std::int64_t> padded_shape = values.sizes().vec();
  padded_shape[0] = most;
  const at::Tensor padded_indices = at::zeros({most}, indices.options());
  const at::Tensor padded_values = at::zeros(padded_shape, values.options());
  padded_indices.narrow(0, 0, indices.size(0)).copy_(indices);
  padded_values.narrow(0, 0, indices.size(0)).copy_(values);

  const std::vector<at::Tensor> all_indices = group.gather_all(padded_indices);
  const std::vector<at::Tensor> all_values = group.gather_all(padded_values);
  std::vector<at::Tensor> used_indices, used_values;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    used_indices.push_back(all_indices[rank].narrow(0, 0, counts[rank]));
    used_values.push_back(all_values[rank].narrow(0, 0, counts[rank]));
  }
  return {at::sparse_coo_tensor(at::cat(used_indices).unsqueeze(0), at::cat(used_values), gradient.sizes()).coalesce(),
          static_cast<std::int64_t>(padded_indices.nbytes() + padded_values.nbytes())};
}

}  // namespace bert
