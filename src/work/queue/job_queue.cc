#include "work/queue/job_queue.h"

#include <array>
#include <cstring>

#include <unistd.h>

#include "core/base/bytes.h"
#include "data/format/json.h"

namespace trainwarden::queue {
namespace {

constexpr const char* kJobsFolder = "jobs";
constexpr const char* kLimitsFile = "limits.json";
constexpr const char* kReasonsFile = "waiting.json";
constexpr const char* kKeeperLease = "keeper";

template <class Number>
format::OrderedJson count_or_null(std::optional<Number> count) {
  return count ? format::OrderedJson(*count) : format::OrderedJson(nullptr);
}

Result<std::optional<std::int64_t>> count_or_nothing(const format::Json& json, const char* field) {
  const auto found = json.find(field);
  if (found == json.end() || found->is_null()) return std::optional<std::int64_t>();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t count, format::int_field(json, field, 0));
  return std::optional<std::int64_t>(count);
}

void keep_first(std::vector<int>& numbers, std::optional<std::int64_t> count) {
  if (count && static_cast<std::size_t>(*count) < numbers.size()) numbers.resize(static_cast<std::size_t>(*count));
}

}  // namespace

std::string this_host() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0' || name[0] == '.' ||
      std::strchr(name.data(), '/') != nullptr) {
    return "localhost";
  }
  return name.data();
}

Capacity limited(Capacity machine, const QueueLimits& limits) {
  keep_first(machine.cpus, limits.cpus);
  keep_first(machine.gpus, limits.gpus);
  if (limits.memory_bytes) machine.memory_bytes = std::min(machine.memory_bytes, *limits.memory_bytes);
  return machine;
}

JobQueue::JobQueue(const std::filesystem::path& jobs, const std::string& host)
    : place_(std::filesystem::absolute(jobs) / ".queue" / host), markers_(place_.beneath(kJobsFolder)) {}

Result<QueueLimits> JobQueue::limits() const {
  const Result<std::string> text = place_.storage().read(kLimitsFile);
  if (text.status().code() == Code::kNotFound) return QueueLimits();
  if (!text.ok()) return text.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json,
                               format::parse_json_object(*text, place_.storage().describe(kLimitsFile)));
  QueueLimits limits;
  TRAINWARDEN_ASSIGN_OR_RETURN(limits.cpus, count_or_nothing(json, "cpus"));
  TRAINWARDEN_ASSIGN_OR_RETURN(limits.gpus, count_or_nothing(json, "gpus"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<std::int64_t> memory, count_or_nothing(json, "memory_bytes"));
  if (memory) limits.memory_bytes = static_cast<std::uint64_t>(*memory);
  if (json.contains("control_group")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(limits.control_group, format::string_field(json, "control_group"));
  }
  return limits;
}

Status JobQueue::set_limits(const QueueLimits& limits) {
  TRAINWARDEN_RETURN_IF_ERROR(place_.storage().create_folder(""));
  const std::string text = format::dump_json({{"cpus", count_or_null(limits.cpus)},
                                              {"gpus", count_or_null(limits.gpus)},
                                              {"memory_bytes", count_or_null(limits.memory_bytes)},
                                              {"control_group", limits.control_group}}) +
                           "\n";
  return place_.storage().replace(kLimitsFile, as_bytes(text));
}

std::map<std::string, std::string> JobQueue::reasons() const {
  std::map<std::string, std::string> reasons;
  const Result<std::string> text = place_.storage().read(kReasonsFile);
  if (!text.ok()) return reasons;
  const Result<format::Json> json = format::parse_json_object(*text, kReasonsFile);
  if (!json.ok()) return reasons;
  for (const auto& [job, reason] : json->items()) {
    if (reason.is_string()) reasons.emplace(job, reason.get<std::string>());
  }
  return reasons;
}

Status JobQueue::set_reasons(const std::map<std::string, std::string>& reasons) {
  const std::string text = format::dump_json(format::OrderedJson(reasons)) + "\n";
  return place_.storage().replace(kReasonsFile, as_bytes(text));
}

Result<std::unique_ptr<storage::Lease>> JobQueue::take_keeper_lease(const Clock& clock) {
  TRAINWARDEN_RETURN_IF_ERROR(place_.storage().create_folder(""));
  return storage::take_lease(place_.storage(), kKeeperLease, clock);
}

bool JobQueue::has_keeper(const Clock& clock) const {
  return storage::is_leased(place_.storage(), kKeeperLease, clock);
}

}  // namespace trainwarden::queue
