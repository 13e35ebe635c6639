#include "store/journal/operators_draft.h"

#include <utility>

#include "data/format/operators_record.h"

namespace trainwarden::journal {

AppendDraft draft_operators(const OperatorBatch& batch) {
  AppendDraft draft;
  for (std::string& payload : format::encode_operators(batch)) {
    FrameDraft& frame = draft.frames.emplace_back();
    frame.kind = format::FrameKind::kOperators;
    frame.flags = static_cast<std::uint16_t>(batch.mode);
    frame.step = batch.global_step;
    frame.head = std::move(payload);
  }
  return draft;
}

}  // namespace trainwarden::journal
