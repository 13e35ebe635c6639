// What kinds, faults and mutations are called, by people and on the command line.
#include <algorithm>
#include <array>

#include "case_plan.h"

namespace trainwarden::torture {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(FaultSort::kCount)> kFaults = {
    "kill",       "torn write", "short write",   "full disk",   "write error",  "sync error",      "read error",
    "power loss", "lost bytes", "lost name",     "lag",         "stale handle", "HTTP error",      "lost answer",
    "cut answer", "repeated",   "stale listing", "expired key", "clock jump",   "stopped process", "listed twice"};
constexpr std::array<std::string_view, static_cast<std::size_t>(Kind::kCount)> kKinds = {
    "kill", "power", "full", "shared", "bucket", "mirror", "clock", "listing"};

struct MutationRow {
  std::string_view name;
  Kind kind;
};
constexpr std::array<MutationRow, static_cast<std::size_t>(Mutation::kCount)> kMutations = {{
    {"none", Kind::kKill},
    {"sync-does-nothing", Kind::kPower},
    {"sync-forgets-name", Kind::kPower},
    {"early-answer", Kind::kKill},
    {"half-written", Kind::kKill},
    {"append-twice", Kind::kKill},
    {"last-record-dropped", Kind::kKill},
    {"old-listing", Kind::kKill},
    {"zeros-read", Kind::kKill},
    {"two-locks", Kind::kKill},
    {"name-not-kept", Kind::kPower},
    {"error-swallowed", Kind::kFull},
    {"request-dropped", Kind::kShared},
    {"piece-twice", Kind::kBucket},
    {"piece-skipped", Kind::kMirror},
    {"promise-alone", Kind::kClock},
    {"blind-beat", Kind::kClock},
    {"list-believed", Kind::kListing},
}};

template <class Enum, class Rows, class NameOf>
std::optional<Enum> find_by_name(const Rows& rows, std::string_view name, const NameOf& name_of) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return name_of(row) == name; });
  if (found == rows.end()) return std::nullopt;
  return static_cast<Enum>(found - rows.begin());
}

}  // namespace

std::string_view name(FaultSort sort) {
  return kFaults[static_cast<std::size_t>(sort)];
}
std::string_view name(Kind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}
std::optional<Kind> kind_of(std::string_view name) {
  return find_by_name<Kind>(kKinds, name, [](std::string_view row) { return row; });
}
std::string_view name(Mutation mutation) {
  return kMutations[static_cast<std::size_t>(mutation)].name;
}
std::optional<Mutation> mutation_of(std::string_view name) {
  return find_by_name<Mutation>(kMutations, name, [](const MutationRow& row) { return row.name; });
}
Kind kind_that_finds(Mutation mutation) {
  return kMutations[static_cast<std::size_t>(mutation)].kind;
}

}  // namespace trainwarden::torture
