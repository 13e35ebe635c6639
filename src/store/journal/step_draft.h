// Step draft: a step's batch as frames, in the order in which they are written.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "data/format/names_record.h"
#include "store/journal/append_draft.h"
#include "store/journal/journal_writer.h"
#include "trainwarden/status.h"

namespace trainwarden::journal {

using NamesById = std::unordered_map<std::uint32_t, format::NameEntry>;

// [names][bundle]...[statistics][scalars][reductions][step_end], each but the last only when there is something in it.
// `names` knows every id of the batch, `named` the ids that the segment has. The draft borrows the batch's
// tensors. kInvalidArgument when an id has no name, two tensors have the same name, data do not fit dtype and shape, or
// the reductions of one tensor do not lie together.
Result<AppendDraft> draft_step(const StepBatch& batch, const NamesById& names,
                               const std::unordered_set<std::uint32_t>& named);

// [names][bundle]...: the names and tensors of a step that goes on.
Result<AppendDraft> draft_part(const StepBatch& batch, const NamesById& names,
                               const std::unordered_set<std::uint32_t>& named);

}  // namespace trainwarden::journal
