// ParameterCells: the values of a parameter in at most 64 cells, so that sets of values are bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tune/search/space.h"

namespace trainwarden::tune {

inline constexpr std::size_t kMaxCells = 64;
inline constexpr std::uint8_t kNoCell = 255;  // of a parameter that is not active

using CellSet = std::uint64_t;

// A number with few values, and each choice, has a cell for each value. A continuum is cut between values that were
// tried, such that the cells have about as many trials each: where a sampler looked closely they are narrow. Of more
// choices than there are cells the rare ones share the last.
class ParameterCells {
 public:
  // `values` as in points, NaN where it was not active.
  ParameterCells(const Space& space, std::size_t parameter, std::span<const double> values);

  std::size_t parameter() const { return parameter_; }
  bool is_ordered() const { return is_ordered_; }  // are neighbours alike?
  std::size_t count() const { return shares_.size(); }
  // How much of the positions of the parameter (Space::to_unit) a cell has; together 1.
  const std::vector<double>& shares() const { return shares_; }
  double share_of(CellSet cells) const;
  CellSet all() const { return ~CellSet{0} >> (kMaxCells - count()); }
  // Of each of the values.
  const std::vector<std::uint8_t>& cells() const { return cells_; }
  // Were there two values or more in different cells?
  bool varies() const;

 private:
  void take_choices(std::span<const double> values, std::size_t choices);
  void take_steps(std::span<const double> positions, std::size_t steps);
  void take_continuum(std::span<const double> positions);

  std::size_t parameter_;
  bool is_ordered_;
  std::vector<double> shares_;
  std::vector<std::uint8_t> cells_;
};

}  // namespace trainwarden::tune
