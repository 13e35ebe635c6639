// Operators draft: the operator calls of a step as frames.
#pragma once

#include "store/journal/append_draft.h"
#include "trainwarden/operator_calls.h"

namespace trainwarden::journal {

// [operators][operators]..., as many as it takes. Of a batch that was checked.
AppendDraft draft_operators(const OperatorBatch& batch);

}  // namespace trainwarden::journal
