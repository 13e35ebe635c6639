// merge_runs(): several runs that are parts of one training, as one run.
//
// Parts are workers that did not share a folder, or attempts that each began a run of their own. The originals are only
// read; the new run has an id of its own and says which runs it was made from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "read/upkeep/recover.h"
#include "store/journal/run_folder.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::upkeep {

enum class MergeKind : std::uint8_t {
  kWorkers,   // side by side, each step by each of them
  kAttempts,  // one after the other: a later one's steps replace those of the earlier ones from where it began
};
std::string_view name(MergeKind kind);  // "workers", "attempts"

struct MergePlan {
  std::vector<storage::Location> runs;  // two or more
  std::filesystem::path to;             // must not be there; a folder of this machine
  // None: workers when no two runs have a worker of the same rank; else the caller must say.
  std::optional<MergeKind> kind{};
  // Whose command, labels and code version count where they differ: a place among `runs`. None: that is an error.
  std::optional<std::size_t> preferred{};
  std::function<void(const std::string& path)> progress{};
};

struct MergedRun {
  std::string address;
  std::string id;
  std::map<std::string, std::string> journals;  // what its journals are called now
  std::int64_t first_step = -1;                 // of its workers; -1 when they have none
  std::optional<std::int64_t> replaced_from{};  // of attempts: its steps from here on were replaced
  std::uint64_t replaced_frames = 0;
};

struct MergeReport {
  journal::RunInfo info;
  MergeKind kind = MergeKind::kWorkers;
  std::vector<MergedRun> runs;  // attempts by the time at which they began, workers as they were given
  std::vector<RecoveredJournal> journals;
  std::vector<std::string> left_behind;  // "first: journal/ledger", with why
  std::vector<CopyNote> lost;
  std::vector<CopyNote> mended;
};

// kInvalidArgument when the runs do not say which kind is meant, disagree on what they were or on a step's mode;
// kFailedPrecondition while one is being written, and for those of other recorders; otherwise as recover_run().
Result<MergeReport> merge_runs(const MergePlan& plan, const Clock& clock = system_clock());

}  // namespace trainwarden::upkeep
