// The ledger's frames: what its journal holds, read back.
#pragma once

#include "react/events/ledger.h"
#include "store/journal/journal_reader.h"

namespace trainwarden::events {

// {"type": "intake", "journals": {...}}
std::string encode_intake(const Intake& intake);
Result<std::optional<Intake>> decode_intake(std::string_view json);

// Everything that the reader has. An event that is missing between others has a stand-in, so that no later event
// changes its number. The storage's errors.
Result<LedgerContents> contents_of(journal::JournalReader& reader, const journal::RunInfo& run);

}  // namespace trainwarden::events
