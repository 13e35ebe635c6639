#include "work/ranks/rank_binding.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "work/jobs/allocation.h"
#include "work/jobs/cpu_topology.h"

namespace trainwarden::ranks {
namespace {

constexpr std::uint64_t kMaxBoundBytes = std::uint64_t{1} << 14;
constexpr std::int64_t kMaxBoundRanks = 1 << 12;
constexpr std::string_view kBoundEnding = ".json";

std::string bound_folder(int attempt) {
  return fmt::format("attempts/{}/bound", attempt);
}

// Of a file of a rank that the job can have.
std::optional<std::size_t> rank_of_file(std::string_view name, const jobs::JobOrder& order) {
  if (!name.ends_with(kBoundEnding)) return std::nullopt;
  const auto rank = parse_int(name.substr(0, name.size() - kBoundEnding.size()));
  if (!rank || *rank < 0 || *rank >= std::min(order.ranks, kMaxBoundRanks)) return std::nullopt;
  return static_cast<std::size_t>(*rank);
}

}  // namespace

Result<std::optional<std::vector<int>>> cpus_of_rank(const RankBinding& binding, const RankPlace& place) {
  using Cpus = std::optional<std::vector<int>>;
  if (binding.by_batch_system) return Cpus(jobs::own_cpus());
  if (binding.own == jobs::Binding::kNone) return Cpus();
  const auto ranks = static_cast<std::size_t>(place.local_world_size);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto all,
                               jobs::cpus_of_ranks(jobs::read_topology(jobs::own_cpus()), binding.own, ranks));
  const auto rank = static_cast<std::size_t>(place.local_rank);
  if (rank < all.size()) return Cpus(all[rank]);
  return Status(Code::kFailedPrecondition, fmt::format("bind: this is rank {} of {} on its node", rank, ranks));
}

Status write_rank_cpus(const jobs::JobRecord& job, int attempt, std::int64_t rank, const std::vector<int>& cpus) {
  storage::Storage& storage = job.place().storage();
  TRAINWARDEN_RETURN_IF_ERROR(storage.create_folder(bound_folder(attempt)));
  jobs::Allocation of_rank;
  of_rank.cpus = cpus;
  const std::string text = jobs::encode_allocation(of_rank);
  return storage.replace(fmt::format("{}/{}{}", bound_folder(attempt), rank, kBoundEnding), as_bytes(text));
}

Result<std::vector<std::vector<int>>> read_rank_cpus(const jobs::JobRecord& job, int attempt) {
  std::vector<std::vector<int>> all;
  const storage::Storage& storage = job.place().storage();
  const Result<std::vector<std::string>> names = storage.list(bound_folder(attempt));
  if (names.status().code() == Code::kNotFound) return all;
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    const std::optional<std::size_t> rank = rank_of_file(name, job.order());
    if (!rank) continue;
    const std::string file = bound_folder(attempt) + "/" + name;
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, storage.read(file, kMaxBoundBytes));
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Allocation of_rank, jobs::decode_allocation(text, storage.describe(file)));
    if (all.size() <= *rank) all.resize(*rank + 1);
    all[*rank] = of_rank.cpus.value_or(std::vector<int>());
  }
  return all;
}

}  // namespace trainwarden::ranks
