// The guess: which tensors of a run are attention, by their names, types, shapes and values.
//
// Names make candidates, shapes sort out, and rows that sum to one decide: one tensor is read of each set whose names
// differ in numbers only. Nothing is assumed in silence: AttentionMap::note says it.
#pragma once

#include "trainwarden/trial.h"
#include "ui/views/attention/attention_map.h"
#include "ui/views/attention/layer_shapes.h"
#include "ui/views/attention/row_check.h"

namespace trainwarden::views::attention {

// The errors of reading the list of tensors. No attention is no error: MapSource::kNone and a note.
// `known` is what the user says of all layers: heads, scale, mask and so on; its names are not looked at.
Result<AttentionMap> guess_map(Trial& trial, const LayerWish& known = {});

// The shapes of what the wish names, from the newest step. kNotFound when a tensor is not there or was nowhere kept
// whole.
Result<LayerShapes> shapes_of(const Trial& trial, const LayerWish& wish);

}  // namespace trainwarden::views::attention
