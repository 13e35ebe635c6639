#include "read/transfer/export_notes.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::transfer {

void ExportNotes::lost(std::string_view cause, std::string_view tensor, std::uint64_t count) {
  add(cause, true, tensor, count);
}

void ExportNotes::changed(std::string_view cause, std::string_view tensor, std::uint64_t count) {
  add(cause, false, tensor, count);
}

void ExportNotes::add(std::string_view cause, bool lost, std::string_view tensor, std::uint64_t count) {
  if (count == 0) return;
  const auto known = std::find_if(notes_.begin(), notes_.end(),
                                  [&](const ExportNote& note) { return note.lost == lost && note.cause == cause; });
  if (known != notes_.end()) {
    known->count += count;
    return;
  }
  notes_.push_back({std::string(cause), lost, count, fmt::format("{} at step {}", printable(tensor), global_step_)});
}

}  // namespace trainwarden::transfer
