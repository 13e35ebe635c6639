// The guess: which tensors of a run are attention, by their names, types, shapes and values.
//
// Names make candidates, shapes sort out, and rows that sum to one decide: one tensor is read of each set whose names
// differ in numbers only. Nothing is assumed in silence: AttentionMap::note says it.
#pragma once

#include "trainwarden/trial.h"
#include "views/attention/attention_map.h"
#include "views/attention/layer_shapes.h"

namespace trainwarden::views::attention {

// The errors of reading the list of tensors. No attention is no error: MapSource::kNone and a note.
Result<AttentionMap> guess_map(Trial& trial);

// The shapes of what the wish names, from the newest step. kNotFound when a tensor is not there or was nowhere kept
// whole.
Result<LayerShapes> shapes_of(const Trial& trial, const LayerWish& wish);

}  // namespace trainwarden::views::attention
