// StridedReader: the elements of any host-readable view, packed, in row-major order, a piece at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden {

// Ok when the CPU can read the view's elements; kFailedPrecondition or kInvalidArgument with the reason otherwise.
Status check_readable(const TensorView& view);

// Reads from `view`, which must be host readable and outlive the reader. No allocation. One thread at a time.
class StridedReader {
 public:
  // Starts at the element with row-major index `first`, in [0, element_count].
  explicit StridedReader(const TensorView& view, std::int64_t first = 0);

  // Copies the next `count` elements to `destination`; there must be as many left.
  void read(std::int64_t count, void* destination);

 private:
  // A run of equal steps. Neighbouring dimensions that lie evenly in memory are taken as one.
  struct Dimension {
    std::int64_t size = 1;
    std::int64_t stride_bytes = 0;
    std::int64_t index = 0;
  };

  void add_dimension(std::int64_t size, std::int64_t stride_bytes);
  void seek(std::int64_t first);
  void next_row();

  std::size_t item_bytes_;
  const std::byte* data_;
  std::int64_t row_bytes_ = 0;  // from data_ to the element at index 0 of the innermost dimension
  std::array<Dimension, Shape::kMaxRank> dimensions_{};  // outermost first
  int rank_ = 0;                                         // at least 1 once constructed
};

}  // namespace trainwarden
