#include "read/retention/stored_run.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/storage/lease.h"
#include "store/storage/prefix_storage.h"

namespace trainwarden::retention {
namespace {

using storage::Entry;
using storage::FileInfo;

constexpr int kDeepest = 64;  // folders in folders
constexpr const char* kDeliverers = "deliverers";
constexpr const char* kControl = "control";
constexpr const char* kCheckpoints = "checkpoints";

// What lies at the top of a run (docs/format/run_folder.md).
constexpr std::array<std::string_view, 9> kOurNames = {
    "run.json", "journal", "control", "blackbox", "stalls", "reports", "positions.jsonl", kDeliverers, kCheckpoints};

struct Extent {
  std::uint64_t bytes = 0;
  std::int64_t changed_unix_ns = 0;
};

void measure(const storage::Storage& storage, const std::string& path, int depth, Extent& extent) {
  for (const Entry& entry : storage.entries(path).value_or({})) {
    if (entry.info.kind == FileInfo::Kind::kFile) {
      extent.bytes += entry.info.bytes;
      if (entry.name.ends_with(".tmp")) continue;  // who asks for the time leaves one, and nothing of the run changed
      extent.changed_unix_ns = std::max(extent.changed_unix_ns, entry.info.changed_unix_ns);
    } else if (entry.info.kind == FileInfo::Kind::kFolder && depth < kDeepest) {
      measure(storage, path.empty() ? entry.name : path + "/" + entry.name, depth + 1, extent);
    }
  }
}

bool is_ours(const std::string& name) {
  // A writer that was killed may have left a file that ends so.
  return name.ends_with(".tmp") || std::find(kOurNames.begin(), kOurNames.end(), name) != kOurNames.end();
}

std::string foreign_names(const storage::Storage& run) {
  for (const Entry& entry : run.entries("").value_or({})) {
    if (!is_ours(entry.name)) return printable(entry.name);
  }
  return "";
}

struct LeaseOfRun {
  std::string path;
  std::string when_held;  // what is going on then
};

std::vector<LeaseOfRun> leases_of(const storage::Storage& run) {
  constexpr std::string_view kLease = ".lease";
  std::vector<LeaseOfRun> leases;
  for (const std::string& writer : journal::list_journals(run).value_or({})) {
    leases.push_back({journal::writer_lease(writer), writer + " is being written"});
  }
  for (const std::string& key : run.list(kDeliverers).value_or({})) {
    leases.push_back(
        {fmt::format("{}/{}/{}", kDeliverers, key, journal::writer_lease("ledger")), "its events are being delivered"});
  }
  for (const std::string& name : run.list(kControl).value_or({})) {
    if (!name.ends_with(kLease)) continue;
    leases.push_back({fmt::format("{}/{}", kControl, name.substr(0, name.size() - kLease.size())),
                      "the machine is being sampled into it"});
  }
  return leases;
}

bool holds_files(const storage::Storage& run, const char* folder) {
  return !run.list(folder).value_or({}).empty();
}

std::string why_it_is_not_removed(const storage::Storage& run) {
  if (const std::string name = foreign_names(run); !name.empty()) {
    return fmt::format("it holds {}, which is none of Trainwarden's files", name);
  }
  if (holds_files(run, kCheckpoints)) return "it holds checkpoints of its training";
  return "";
}

}  // namespace

std::string who_writes(const storage::Storage& run, const Clock& clock) {
  for (const LeaseOfRun& lease : leases_of(run)) {
    if (storage::is_leased(run, lease.path, clock)) return lease.when_held;
  }
  return "";
}

Result<std::string> who_may_write(storage::Storage& run, const Clock& clock) {
  for (const LeaseOfRun& lease : leases_of(run)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool held, storage::may_be_leased(run, lease.path, clock));
    if (held) return lease.when_held;
  }
  return std::string();
}

std::optional<StoredRun> look_at_run(const storage::Location& runs, const Entry& entry, const Clock& clock) {
  if (entry.info.kind != FileInfo::Kind::kFolder) return std::nullopt;
  const storage::Location run = runs.beneath(entry.name);
  const auto info = journal::read_run(run.storage());
  if (info.status().code() == Code::kNotFound) return std::nullopt;
  StoredRun facts;
  facts.name = entry.name;
  Extent extent;
  measure(run.storage(), "", 0, extent);
  facts.bytes = extent.bytes;
  facts.changed_unix_ns = extent.changed_unix_ns;
  if (!info.ok()) {
    facts.stays = info.status().message();
    return facts;
  }
  facts.info = *info;
  facts.stays = who_writes(run.storage(), clock);
  if (facts.stays.empty() && clock.unix_ns() - facts.changed_unix_ns < kQuietNs) {
    facts.stays = "it was changed in the last ten minutes";
  }
  facts.is_not_removed = why_it_is_not_removed(run.storage());
  return facts;
}

std::uint64_t bytes_below(const storage::Storage& storage, const std::string& path) {
  Extent extent;
  measure(storage, path, 0, extent);
  return extent.bytes;
}

}  // namespace trainwarden::retention
