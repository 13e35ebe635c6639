#include "ui/views/layers/layers.h"

#include <algorithm>
#include <list>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "read/trial/trial_access.h"

namespace trainwarden::views {
namespace {

using trial::WorkerJournal;

// Of one run; a thousand layers take some hundred megabytes in all of them together.
constexpr std::size_t kMostReadings = 6;
constexpr std::size_t kMostCollections = 64;

struct LayersMemory {
  // ..., collection, ..., worker, ...
  using Key = std::tuple<LayerQuantity, std::string, std::optional<Mode>, std::string, LayerStretch>;
  std::list<std::pair<Key, LayerReading>> readings;  // the last one looked at first

  LayerReading& find(const Key& key, LayerQuantity quantity, std::vector<LayerTensor> layers) {
    const auto found =
        std::find_if(readings.begin(), readings.end(), [&](const auto& each) { return each.first == key; });
    if (found != readings.end() && found->second.layers() == layers) {
      readings.splice(readings.begin(), readings, found);
      return readings.front().second;
    }
    if (found != readings.end()) readings.erase(found);  // the run has more layers by now
    readings.emplace_front(std::piecewise_construct, std::forward_as_tuple(key),
                           std::forward_as_tuple(quantity, std::get<2>(key), std::get<4>(key), std::move(layers)));
    if (readings.size() > kMostReadings) readings.pop_back();
    return readings.front().second;
  }
};

// In the order in which the worker came to know them, which is that of the network.
std::vector<LayerTensor> layers_of(Trial& trial, const WorkerJournal& worker, std::size_t tensors,
                                   const std::string& collection) {
  trial::TensorCatalog& catalog = TrialAccess::catalog(trial);
  std::vector<LayerTensor> layers;
  for (std::uint32_t index = 0; index < tensors; ++index) {
    trial::CatalogTensor& tensor = worker.tensor(index);
    if (catalog.collections_of(tensor).contains(collection)) layers.push_back({tensor.name, index});
  }
  return layers;
}

struct FoundLayers {
  WorkerJournal* worker = nullptr;
  std::vector<LayerTensor> layers;
};

Result<FoundLayers> find_layers(Trial& trial, const std::string& collection, const std::string& worker) {
  FoundLayers found;
  bool is_known = worker.empty();
  for (WorkerJournal* journal : TrialAccess::journals(trial)) {
    if (!journal->readable() || (!worker.empty() && journal->name() != worker)) continue;
    is_known = true;
    found.layers = layers_of(trial, *journal, journal->reader().tensors().size(), collection);
    found.worker = journal;
    if (!found.layers.empty()) return found;
  }
  if (is_known) return FoundLayers();
  return Status(Code::kNotFound, fmt::format("there is no worker \"{}\"", printable(worker)));
}

// In which forms each tensor was kept, at any step.
struct KeptMemory {
  struct OfWorker {
    std::size_t groups = 0;  // of steps, looked at so far
    std::map<std::uint32_t, std::uint8_t> forms;
  };
  std::map<const WorkerJournal*, OfWorker> workers;

  const std::map<std::uint32_t, std::uint8_t>& forms_of(WorkerJournal& worker) {
    trial::TensorIndex& index = worker.tensor_index();
    OfWorker& known = workers[&worker];
    for (; known.groups < index.groups(); ++known.groups) {
      for (const auto& [tensor, held] : index.tensors_of(static_cast<std::uint32_t>(known.groups))) {
        known.forms[tensor] |= held;
      }
    }
    return known.forms;
  }
};

std::vector<KeptCollection> kept_collections(Trial& trial, KeptMemory& memory) {
  std::map<std::string, std::uint8_t> forms;
  trial::TensorCatalog& catalog = TrialAccess::catalog(trial);
  for (WorkerJournal* worker : TrialAccess::journals(trial)) {
    if (!worker->readable()) continue;
    for (const auto& [tensor, held] : memory.forms_of(*worker)) {
      for (const std::string& name : catalog.collections_of(worker->tensor(tensor))) forms[name] |= held;
    }
  }
  std::vector<KeptCollection> kept;
  for (const auto& [name, held] : forms) {
    if (kept.size() == kMostCollections) break;
    kept.push_back({name, can_give(LayerQuantity::kStd, held), can_give(LayerQuantity::kUpdateRatio, held)});
  }
  return kept;
}

// The grid lies column by column, the answer layer by layer: so many columns at once stay in the processor's cache.
constexpr std::size_t kColumnsAtOnce = 16;

void join_cells(const LayerGrid& grid, std::size_t together, std::size_t columns, std::vector<LayerCell>& cells) {
  cells.resize(columns * grid.layers());
  for (std::size_t first = 0; first < columns; first += kColumnsAtOnce) {
    const std::size_t end = std::min(columns, first + kColumnsAtOnce);
    for (std::size_t layer = 0; layer < grid.layers(); ++layer) {
      for (std::size_t column = first; column < end; ++column) {
        // Columns behind the last that was read are not in the grid yet.
        for (std::size_t i = column * together; i < std::min(grid.columns(), (column + 1) * together); ++i) {
          cells[layer * columns + column].add(grid.cell(layer, i));
        }
      }
    }
  }
}

// Columns of the grid, joined until there are at most `most`.
void cut(const LayerReading& reading, std::size_t most, LayerLook& look) {
  const LayerGrid& grid = reading.grid();
  const std::size_t of_grid = (reading.steps() + grid.width() - 1) / grid.width();
  const std::size_t together = std::max<std::size_t>(1, (of_grid + most - 1) / most);
  const std::size_t columns = (of_grid + together - 1) / together;
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t first = column * together * grid.width();
    const std::size_t end = std::min(reading.steps(), first + together * grid.width());
    LayerColumn out{reading.step(first), reading.step(end - 1), static_cast<std::uint32_t>(end - first), 0};
    for (std::size_t i = column * together; i < std::min(grid.columns(), (column + 1) * together); ++i) {
      out.read += grid.read(i);
    }
    look.columns.push_back(out);
  }
  join_cells(grid, together, columns, look.cells);
}

}  // namespace

Result<LayerLook> look_at_layers(OpenRun::Use& use, const LayerQuestion& question, std::chrono::nanoseconds patience) {
  Trial& trial = use.trial();
  LayerLook look;
  look.collection = question.collection.empty() ? std::string(question.quantity.collection) : question.collection;
  for (const WorkerJournal* worker : TrialAccess::journals(trial)) {
    if (worker->readable()) look.workers.push_back(worker->name());
  }
  look.kept = kept_collections(trial, use.memory<KeptMemory>());
  TRAINWARDEN_ASSIGN_OR_RETURN(FoundLayers found, find_layers(trial, look.collection, question.worker));
  if (found.worker == nullptr) return look;
  look.worker = found.worker->name();
  look.left_out = found.layers.size() - std::min(kMostLayers, found.layers.size());
  found.layers.resize(found.layers.size() - look.left_out);
  LayerReading& reading = use.memory<LayersMemory>().find(
      {question.quantity.quantity, look.collection, question.mode, look.worker, question.stretch},
      question.quantity.quantity, std::move(found.layers));
  reading.extend(*found.worker, trial.last_complete_step());
  TRAINWARDEN_RETURN_IF_ERROR(reading.read(*found.worker, system_clock().steady_ns() + patience.count()));
  for (const LayerTensor& layer : reading.layers()) look.layers.push_back(layer.name);
  look.steps = reading.steps();
  look.left = reading.left();
  look.unreadable = reading.unreadable();
  cut(reading, question.columns, look);
  return look;
}

}  // namespace trainwarden::views
