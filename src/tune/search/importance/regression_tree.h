// RegressionTree: a metric as a function of a few boxes of values.
//
// Breiman, Friedman, Olshen, Stone: Classification and Regression Trees (1984). A node is split where the squared error
// falls most; the values of an unordered choice in the order of their means, which has the best of all splits in two.
#pragma once

#include <cstdint>
#include <vector>

#include "tune/search/importance/importance_sample.h"
#include "tune/search/random.h"

namespace trainwarden::tune {

// The cell of each trial, by parameter and trial; every parameter has one.
using FilledCells = std::vector<std::vector<std::uint8_t>>;

// The values of a parameter in a box.
struct LeafSide {
  std::size_t parameter = 0;  // of the sample
  CellSet cells = 0;
  double share = 1;  // ParameterCells::share_of(cells)
};

struct TreeLeaf {
  double value = 0;
  double volume = 1;            // the product of the shares of its sides
  std::vector<LeafSide> sides;  // by their parameters; a parameter that is not among them has all its values
};

class RegressionTree {
 public:
  struct Trial {
    std::size_t index;  // in the sample
    double weight;      // how often it counts
  };

  // `trials` is not empty. A node looks at a random part of the parameters. No leaf weighs less than `min_weight`.
  RegressionTree(const ImportanceSample& sample, const FilledCells& cells, std::vector<Trial> trials, double min_weight,
                 Random& random);

  double predict(const FilledCells& cells, std::size_t trial) const;
  // They cover the space, and no point twice.
  std::vector<TreeLeaf> leaves() const;

 private:
  struct Node {
    double value = 0;
    std::size_t parameter = 0;
    CellSet left_cells = 0;
    std::size_t left = 0, right = 0;  // nodes; 0: it is a leaf
  };
  struct Split {
    std::size_t parameter = 0;
    CellSet left_cells = 0;
    double gain = 0;
  };
  struct Growth;

  std::size_t grow(Growth& growth, std::size_t first, std::size_t end, int depth);
  void add_leaves(std::size_t node, std::vector<LeafSide>& sides, std::vector<TreeLeaf>& leaves) const;

  const ImportanceSample* sample_;
  std::vector<Node> nodes_;
};

}  // namespace trainwarden::tune
