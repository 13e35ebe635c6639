// Layers over steps: one number of each layer of a run, in columns of steps.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainwarden/mode.h"
#include "trainwarden/status.h"
#include "ui/views/layers/layer_grid.h"
#include "ui/views/layers/layer_quantity.h"
#include "ui/views/layers/layer_reading.h"
#include "ui/views/shelf.h"

namespace trainwarden::views {

inline constexpr std::size_t kMostLayers = 1024;

struct LayerQuestion {
  QuantityWords quantity = kLayerQuantities[0];
  std::string collection;    // whose tensors are the layers; empty: the quantity's
  std::optional<Mode> mode;  // steps of this mode alone
  std::string worker;        // empty: the first that knows any of them
  LayerStretch stretch;      // steps outside it are left out
  std::size_t columns = 1024;
};

struct LayerColumn {
  std::int64_t first_step = 0;  // global
  std::int64_t last_step = 0;
  std::uint32_t steps = 0;  // that hold the layers
  std::uint32_t read = 0;   // of them, until now
};

// What was kept of the tensors of a collection, at any step.
struct KeptCollection {
  std::string name;
  bool has_statistics = false;  // or values, or single reductions
  bool has_values = false;
};

struct LayerLook {
  std::string collection;
  std::string worker;                // empty: none knows any layer
  std::vector<std::string> workers;  // that can be read
  std::vector<std::string> layers;   // names of tensors, in the order in which the network gave them
  std::size_t left_out = 0;          // layers beyond kMostLayers
  std::vector<LayerColumn> columns;
  std::vector<LayerCell> cells;  // layer by layer, a cell for each column
  std::uint64_t steps = 0;       // that hold the layers
  std::uint64_t left = 0;        // of them, not read yet: ask again
  std::uint64_t unreadable = 0;  // numbers whose bytes are damaged
  std::vector<KeptCollection> kept;
};

// What was read is remembered with the run; each question reads on for `patience`. kNotFound for an unknown worker.
Result<LayerLook> look_at_layers(OpenRun::Use& use, const LayerQuestion& question, std::chrono::nanoseconds patience);

}  // namespace trainwarden::views
