// The rows of "layers" in a full examination, by what they mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "judge/diagnosis/finding.h"

namespace trainwarden::diagnosis {

struct LayerRow {
  std::size_t index = 0;
  std::string name, kind;
  std::int64_t step = 0;
  double mean = kUnknown, deviation = kUnknown;
  double zeros = kUnknown;    // share of elements that are zero
  double largest = kUnknown;  // absolute value
  double beyond = kUnknown;   // share of elements beyond 0.99
  double spread = kUnknown;   // of the samples of the batch, as a share of the deviation
  double cosine = kUnknown;   // mean between two samples
  double silent = kUnknown;   // share of units that are zero for all samples
};

inline constexpr std::size_t kLayerNumbers = 8;

inline LayerRow layer_in(const Case& seen, const Snapshot& snapshot, std::size_t index) {
  LayerRow row;
  row.index = index;
  row.step = snapshot.step;
  const Structure& structure = seen.structure();
  if (index < structure.layers.size()) {
    row.name = structure.layers[index];
    if (const Module* module = structure.module(row.name)) row.kind = module->kind;
  }
  const Values* rows = snapshot.find("layers");
  if (rows == nullptr || rows->size() != structure.layers.size() * kLayerNumbers || index >= structure.layers.size())
    return row;
  const double* numbers = rows->data() + index * kLayerNumbers;
  row.mean = numbers[0], row.deviation = numbers[1], row.zeros = numbers[2], row.largest = numbers[3];
  row.beyond = numbers[4], row.spread = numbers[5], row.cosine = numbers[6], row.silent = numbers[7];
  return row;
}

inline LayerRow layer_at(const Case& seen, std::size_t snapshot, std::size_t index) {
  return snapshot < seen.snapshots().size() ? layer_in(seen, seen.snapshots()[snapshot], index) : LayerRow();
}

// Of the last full examination that has them.
inline std::vector<LayerRow> last_layers(const Case& seen) {
  std::vector<LayerRow> rows;
  const std::size_t wanted = seen.structure().layers.size() * kLayerNumbers;
  for (auto snapshot = seen.snapshots().rbegin(); snapshot != seen.snapshots().rend(); ++snapshot) {
    const Values* found = snapshot->find("layers");
    if (found == nullptr || found->size() != wanted || wanted == 0) continue;
    for (std::size_t i = 0; i < seen.structure().layers.size(); ++i) rows.push_back(layer_in(seen, *snapshot, i));
    break;
  }
  return rows;
}

// The same, where it was late enough to speak of what the training has come to; empty otherwise.
inline std::vector<LayerRow> late_layers(const Case& seen) {
  std::vector<LayerRow> rows = last_layers(seen);
  if (!rows.empty() && rows.front().step * 3 < seen.symptoms.steps) rows.clear();
  return rows;
}

}  // namespace trainwarden::diagnosis
