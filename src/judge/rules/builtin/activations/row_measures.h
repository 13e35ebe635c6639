// Measures of the rows of one tensor.
#pragma once

#include <cstdint>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

struct RowMeasure {
  double value = 0;
  std::int64_t rows = 0;  // that it was measured over
};

// Of the attention of shape [..., queries, keys], each row the probabilities of the keys of one query: the mean over
// the rows of H / ln(n), H the entropy of a row and n the number of keys that it may see. 1: attends to all alike, 0:
// to one. Rows are divided by their sum, as dropout may have scaled them; rows that are all zero or may see fewer than
// two keys are left out. A key is hidden when all rows of its matrix give it 0, and, where nothing above the diagonal
// of a square matrix is other than 0, from the queries before it. Looks at about a million elements at most, spread
// evenly. kOutOfRange: fewer than two dimensions, negative or not finite elements, or no rows to measure.
Result<RowMeasure> entropy_share(const TensorView& attention);

// Of a batch [rows, ...]: the mean cosine between two different rows, (|Σ x/|x||² - m) / (m (m - 1)) for m rows. At
// most 256 rows are taken; rows of zeros are left out. kOutOfRange: fewer than two dimensions or two rows, or elements
// that are not finite.
Result<RowMeasure> mean_cosine(const TensorView& batch);

// Of scores [..., choices]: the share of rows in which the most frequent choice has the highest score, the first of
// several equals. `choice` is that choice. kOutOfRange: fewer than two choices, or elements that are not finite.
struct TopShare {
  double share = 0;
  std::int64_t choice = 0;
  std::int64_t rows = 0;
};
Result<TopShare> top_share(const TensorView& scores);

}  // namespace trainwarden::rules
