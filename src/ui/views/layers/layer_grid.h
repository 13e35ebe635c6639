// LayerGrid: layers by columns of steps, with the largest number of each cell and how often it was not finite. Columns
// widen as steps come, so that the grid never has more than a fixed number of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace trainwarden::views {

// What a layer's number was at one step.
struct LayerNumber {
  enum class Kind : std::uint8_t { kUnknown, kFinite, kNan, kInf };
  Kind kind = Kind::kUnknown;
  double value = 0;  // when finite
};

struct LayerCell {
  double max = std::numeric_limits<double>::quiet_NaN();  // of the finite ones; NaN: there are none
  std::int64_t max_step = -1;                             // the first step that has it
  std::int64_t odd_step = -1;                             // the first that is not finite
  std::uint32_t nan = 0;                                  // steps
  std::uint32_t inf = 0;

  void add(const LayerNumber& value, std::int64_t step);
  void add(const LayerCell& other);
};

class LayerGrid {
 public:
  static constexpr std::size_t kMostColumns = 2048;

  explicit LayerGrid(std::size_t layers) : layers_(layers) {}

  // `place`: which of the steps that hold the layers it is, from 0.
  void add(std::size_t layer, std::size_t place, std::int64_t step, const LayerNumber& value);
  // The step at the place was read, whatever it held.
  void count(std::size_t place);

  std::size_t layers() const { return layers_; }
  std::size_t columns() const { return read_.size(); }  // to the last that has something
  // Places in one column: a power of two.
  std::size_t width() const { return width_; }
  const LayerCell& cell(std::size_t layer, std::size_t column) const { return cells_[column * layers_ + layer]; }
  std::uint32_t read(std::size_t column) const { return read_[column]; }

 private:
  void make_room(std::size_t place);
  void widen();

  std::size_t layers_;
  std::size_t width_ = 1;
  std::vector<LayerCell> cells_;     // column by column
  std::vector<std::uint32_t> read_;  // steps, by column
};

}  // namespace trainwarden::views
