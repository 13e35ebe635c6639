#include "ui/views/run_mark.h"

#include "store/journal/run_folder.h"

namespace trainwarden::views {

RunMark mark_of(const storage::Location& run) {
  auto info = run.storage().info(journal::kRunFile);
  if (!info.ok()) info = run.storage().info("");
  return info.ok() ? info->identity : 0;
}

}  // namespace trainwarden::views
