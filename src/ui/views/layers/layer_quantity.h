// LayerQuantity: which number of a layer is looked at, and how it is read from what was kept of a tensor at a step.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "read/trial/worker_journal.h"
#include "store/journal/journal_reader.h"
#include "trainwarden/status.h"
#include "ui/views/layers/layer_grid.h"

namespace trainwarden::views {

enum class LayerQuantity : std::uint8_t {
  kNorm,         // sqrt(sum of squares)
  kUpdateRatio,  // mean |w - w before| / (mean |w before| + 1e-9), as the rule WeightUpdateRatio has it
  kDeadShare,    // of the units, those without an element above 0 at this step
  kZeroShare,    // of the elements
  kStd,          // of the elements
  kAbsMean,      // of the elements
};

struct QuantityWords {
  LayerQuantity quantity;
  std::string_view name;
  std::string_view collection;  // whose tensors it is asked of, unless the question says
};
inline constexpr std::array<QuantityWords, 6> kLayerQuantities = {{
    {LayerQuantity::kNorm, "norm", "gradients"},
    {LayerQuantity::kUpdateRatio, "update_ratio", "weights"},
    {LayerQuantity::kDeadShare, "dead_share", "relu_outputs"},
    {LayerQuantity::kZeroShare, "zero_share", "outputs"},
    {LayerQuantity::kStd, "std", "outputs"},
    {LayerQuantity::kAbsMean, "abs_mean", "outputs"},
}};

// kInvalidArgument with all there are.
Result<QuantityWords> parse_layer_quantity(std::string_view name);
// Does it need the elements themselves?
bool needs_values(LayerQuantity quantity);
// Can it come from a record with these forms (a bit for each)?
bool can_give(LayerQuantity quantity, std::uint8_t forms);

// What was kept of one tensor at one step, in each form.
struct KeptForms {
  std::array<std::optional<journal::Record>, format::kRecordFormCount> records;
  const std::optional<journal::Record>& operator[](journal::RecordForm form) const {
    return records[static_cast<std::size_t>(form)];
  }
};

// Unknown where the forms do not give it. A tensor with elements that are not finite has no number, but a kind.
Result<LayerNumber> layer_number(journal::JournalReader& reader, const KeptForms& now, LayerQuantity quantity);
// The same of kUpdateRatio. `before`: the same tensor at the step before that has it.
Result<LayerNumber> layer_update_ratio(journal::JournalReader& reader, const KeptForms& before, const KeptForms& now);

}  // namespace trainwarden::views
