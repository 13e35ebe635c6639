// Many tensors cut into pieces of some size, so that threads share small and large ones evenly.
#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bert {

struct Piece {
  std::size_t tensor;  // place in the list
  std::int64_t begin;  // first number of it
  std::int64_t count;
};

// 16 Ki numbers: four arrays of them fit the L2 cache, and a piece lasts long enough to be worth its call.
inline constexpr std::int64_t kPieceNumbers = 16384;

// Where the pieces lie does not depend on the number of threads, so sums over them do not either.
inline std::vector<Piece> cut_into_pieces(const std::vector<std::int64_t>& counts) {
  std::vector<Piece> pieces;
  for (std::size_t tensor = 0; tensor < counts.size(); ++tensor) {
    for (std::int64_t begin = 0; begin < counts[tensor]; begin += kPieceNumbers) {
      pieces.push_back({tensor, begin, std::min(kPieceNumbers, counts[tensor] - begin)});
    }
  }
  return pieces;
}

// Calls `work` with each piece and its place in the list, in LibTorch's threads. Must be compiled with OpenMP, as
// LibTorch is: without it there is one thread.
template <typename Work>
void for_each_piece(const std::vector<Piece>& pieces, const Work& work) {
  at::parallel_for(0, static_cast<std::int64_t>(pieces.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) work(pieces[static_cast<std::size_t>(i)], static_cast<std::size_t>(i));
  });
}

}  // namespace bert
