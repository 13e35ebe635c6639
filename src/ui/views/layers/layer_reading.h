// LayerReading: one number of the layers of one worker over its steps, read little by little.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "read/trial/trial_access.h"
#include "trainwarden/mode.h"
#include "trainwarden/status.h"
#include "ui/views/layers/coarse_order.h"
#include "ui/views/layers/layer_grid.h"
#include "ui/views/layers/layer_quantity.h"

namespace trainwarden::views {

// A layer is a tensor of the collection that is asked for.
struct LayerTensor {
  std::string name;
  std::uint32_t tensor = 0;  // the reader's index
  friend bool operator==(const LayerTensor&, const LayerTensor&) = default;
};

// Global steps, both ends included.
struct LayerStretch {
  std::int64_t from = std::numeric_limits<std::int64_t>::min();
  std::int64_t to = std::numeric_limits<std::int64_t>::max();
  friend auto operator<=>(const LayerStretch&, const LayerStretch&) = default;
};

// Use it with the worker that it was made for.
class LayerReading {
 public:
  LayerReading(LayerQuantity quantity, std::optional<Mode> mode, LayerStretch stretch, std::vector<LayerTensor> layers);

  // Takes in the steps that came since, up to `last_step`. A training that went back to an earlier step has written
  // steps again: all is read anew then.
  void extend(trial::WorkerJournal& worker, std::int64_t last_step);
  // Reads steps until `deadline_ns` of the steady clock, but at least one; some from everywhere first. An error is the
  // storage's.
  Status read(trial::WorkerJournal& worker, std::int64_t deadline_ns);

  const std::vector<LayerTensor>& layers() const { return layers_; }
  const LayerGrid& grid() const { return grid_; }
  std::size_t steps() const { return steps_.size(); }
  std::int64_t step(std::size_t place) const { return steps_[place].global_step; }
  std::size_t left() const;                              // steps that have not been read yet
  std::uint64_t unreadable() const { return damaged_; }  // numbers whose bytes are damaged

 private:
  struct HeldStep {
    std::int64_t global_step = 0;
    std::uint32_t index = 0;  // into the reader's steps()
  };
  // Some of the steps, from `first` on, in the order in which they are read.
  struct Stretch {
    std::size_t first = 0;
    CoarseOrder order;
  };

  void forget();
  bool has_repeats(std::span<const journal::StepEntry> steps) const;
  bool holds(trial::TensorIndex& index, std::uint32_t step_index);
  Status read_step(trial::WorkerJournal& worker, std::size_t place);
  Status gather(trial::WorkerJournal& worker, std::size_t place, std::vector<KeptForms>& kept);

  const LayerQuantity quantity_;
  const std::optional<Mode> mode_;
  const LayerStretch stretch_;
  const std::vector<LayerTensor> layers_;
  std::vector<std::uint32_t> row_of_;  // by the reader's tensor; kNoRow
  std::vector<std::int8_t> holds_;     // by the index's groups: 1, 0, or -1 where nobody has looked
  std::vector<HeldStep> steps_;        // that hold a layer, by rising step
  std::size_t looked_at_ = 0;          // of the reader's steps
  std::int64_t highest_step_ = std::numeric_limits<std::int64_t>::min();
  std::vector<Stretch> unread_;  // the newest last
  std::uint64_t damaged_ = 0;
  LayerGrid grid_;
  std::vector<KeptForms> now_;  // of the step that is read, by row
  std::vector<KeptForms> before_;
};

}  // namespace trainwarden::views
