// The runs that are to be merged, looked at before anything is written: what they are, and what their journals will be
// called.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "read/upkeep/merge.h"
#include "read/upkeep/run_origin.h"
#include "store/journal/run_folder.h"
#include "store/storage/location.h"
#include "trainwarden/mode.h"
#include "trainwarden/status.h"

namespace trainwarden::upkeep {

struct MergePart {
  storage::Location location;
  journal::RunInfo info;
  std::vector<RunOrigin> origins;
  std::vector<std::string> writers;
  std::map<std::string, std::string> new_names;                 // of those that go along
  std::map<std::int64_t, std::pair<Mode, std::int64_t>> steps;  // of its workers, with mode and mode step
  std::set<std::string> ended;                                  // workers that said so, and did not take it back

  std::int64_t first_step() const { return steps.empty() ? -1 : steps.begin()->first; }
};

// Reads what is asked of it. The errors of merge_runs().
Result<MergePart> read_part(const storage::Location& location);

bool is_worker(std::string_view writer);
// Do two of them have a worker of the same rank?
bool ranks_collide(const std::vector<MergePart>& parts);

// Fills new_names; names of what stays behind are added to the list.
Status name_workers_journals(std::vector<MergePart>& parts, std::vector<std::string>& left_behind);
void name_attempts_journals(std::vector<MergePart>& parts, std::vector<std::string>& left_behind);

// What run.json of the merged run says, but for its id. kInvalidArgument names all that they disagree on.
Result<journal::RunInfo> merged_info(const std::vector<MergePart>& parts, MergeKind kind,
                                     std::optional<std::size_t> preferred);
// Workers end the same steps in the same modes.
Status check_same_steps(const std::vector<MergePart>& parts);

}  // namespace trainwarden::upkeep
