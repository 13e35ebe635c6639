#include "read/trial/run_listing.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "read/trial/smdebug/smdebug_source.h"
#include "store/journal/run_folder.h"
#include "store/storage/folder_edits.h"

namespace trainwarden::trial {

bool is_run(const storage::Location& location) {
  return check_run(location).ok();
}

Status check_run(const storage::Location& location) {
  const storage::Storage& storage = location.storage();
  const Status status = storage.info(journal::kRunFile).status();
  if (status.ok() || holds_smdebug_run(storage)) return {};
  if (status.code() != Code::kNotFound) return status;
  return Status(Code::kNotFound,
                fmt::format("no run at {}: there is no {} in it, and neither collections nor index of smdebug's",
                            printable(location.address()), journal::kRunFile));
}

Result<std::vector<storage::Entry>> list_folders(const storage::Location& folder) {
  auto entries = folder.storage().entries("");
  if (!entries.ok() && entries.status().code() != Code::kNotFound) {
    return entries.status().with_context(fmt::format("the folder of runs {}", printable(folder.address())));
  }
  if (!entries.ok()) {
    return Status(Code::kNotFound, fmt::format("no folder of runs at {} ({}); start one with `trainwarden run -- "
                                               "PROGRAM`, or name another folder with --runs or TRAINWARDEN_RUNS",
                                               folder.address(), entries.status().message()));
  }
  using Kind = storage::FileInfo::Kind;
  std::erase_if(*entries, [](const storage::Entry& entry) {
    if (storage::is_name_while_removed(entry.name)) return true;
    return entry.info.kind != Kind::kFolder && entry.info.kind != Kind::kLink;
  });
  return entries;
}

Result<std::vector<std::string>> list_runs(const storage::Location& folder) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto folders, list_folders(folder));
  std::vector<std::string> names;
  for (const storage::Entry& entry : folders) {
    if (is_run(folder.child(entry.name))) names.push_back(entry.name);
  }
  return names;
}

}  // namespace trainwarden::trial
