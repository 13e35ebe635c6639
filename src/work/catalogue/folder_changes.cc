#include "work/catalogue/folder_changes.h"

#include <utility>

#include "core/base/clock.h"

namespace trainwarden::catalogue {
namespace {

// File systems keep times to a few milliseconds, some to two seconds.
constexpr std::int64_t kStillWarmNs = 2'500'000'000;

}  // namespace

std::int64_t mark_of(const storage::FileInfo& info) {
  const std::int64_t age_ns = system_clock().unix_ns() - info.changed_unix_ns;
  if (age_ns >= 0 && age_ns < kStillWarmNs) return 0;
  const auto changed = static_cast<std::uint64_t>(info.changed_unix_ns);
  return static_cast<std::int64_t>(info.identity ^ (changed * 0x9e3779b97f4a7c15ULL));
}

FolderChanges compare(const std::vector<MarkedName>& present, KnownMarks known) {
  FolderChanges changes;
  for (const MarkedName& one : present) {
    const auto before = known.extract(one.name);
    if (before && before.mapped() == one.mark && one.mark != 0) continue;
    changes.changed.push_back(one);
  }
  for (const auto& [name, mark] : known) changes.gone.push_back(name);
  return changes;
}

FolderChanges compare(const std::vector<storage::Entry>& entries, KnownMarks known) {
  std::vector<MarkedName> present;
  present.reserve(entries.size());
  for (const storage::Entry& entry : entries) present.push_back({entry.name, mark_of(entry.info)});
  return compare(present, std::move(known));
}

Result<std::vector<storage::Entry>> entries_of(const storage::Storage& storage, const std::string& folder,
                                               storage::FileInfo::Kind kind) {
  Result<std::vector<storage::Entry>> entries = storage.entries(folder);
  if (entries.status().code() == Code::kNotFound) return std::vector<storage::Entry>();
  if (!entries.ok()) return entries.status();
  std::erase_if(*entries, [kind](const storage::Entry& entry) { return entry.info.kind != kind; });
  return entries;
}

}  // namespace trainwarden::catalogue
