// ImportanceShare: a share of what there is to explain, with how sure it is.
#pragma once

#include <vector>

namespace trainwarden::tune {

// In [0, 1], low <= importance <= high. The interval has nine tenths of what trials drawn anew would say.
struct ImportanceShare {
  double importance = 0, low = 0, high = 0;
};

// Of an estimate, and those of trials drawn anew; may be negative, where what chance adds was taken off.
ImportanceShare share_of(double estimate, std::vector<double> redrawn);
// The same share of a smaller or larger whole.
ImportanceShare scaled(const ImportanceShare& share, double factor);

}  // namespace trainwarden::tune
