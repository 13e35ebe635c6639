// Slice: a part of a tensor, as NumPy writes it: "0,:,-1", "..., ::2", "0:64".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::views {

struct SliceDimension {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
  bool kept = true;  // false: an index, which takes the dimension away
};

// Of a tensor of a certain shape.
struct Slice {
  std::vector<SliceDimension> dimensions;  // of all of the tensor's
  std::vector<int> axes;                   // the kept ones, in the order in which they come out

  std::vector<std::int64_t> shape() const;  // what comes out
  std::int64_t element_count() const;       // never more than the tensor has
  std::string to_string() const;            // "0,:,3:7"
};

// Empty: all of it. "..." stands for as many ":" as there is room for; missing ones at the end are ":". Ranges end
// where the tensor does, indices must lie in it; both count from the end when negative. `axes`: the kept dimensions in
// the order in which they are wanted, empty for theirs. kInvalidArgument.
Result<Slice> parse_slice(std::string_view text, const Shape& shape, std::span<const std::int64_t> axes = {});

// The slice's elements, packed, row-major. `packed` is a row-major tensor of numbers of the slice's shape.
std::string gather(const TensorView& packed, const Slice& slice);
// The same of texts.
std::vector<std::string> gather_strings(const TensorView& packed, const Slice& slice);
// Where in the packed tensor the slice's elements are, in their order.
std::vector<std::int64_t> offsets_of(const Shape& shape, const Slice& slice);

}  // namespace trainwarden::views
