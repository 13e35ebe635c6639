#include "work/jobs/allocation.h"

#include <utility>

#include <fmt/format.h>

#include "data/format/json.h"

namespace trainwarden::jobs {
namespace {

constexpr std::int64_t kMaxNumber = 65535;

using Numbers = std::optional<std::vector<int>>;

format::OrderedJson numbers_or_null(const Numbers& numbers) {
  return numbers ? format::OrderedJson(*numbers) : format::OrderedJson(nullptr);
}

Result<Numbers> numbers_or_nothing(const format::Json& json, const char* field, std::string_view what) {
  const auto found = json.find(field);
  if (found != json.end() && found->is_null()) return Numbers();
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json* const list, format::array_field(json, field));
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<int> numbers, numbers_of_devices(*list, fmt::format("{}: {}", what, field)));
  return Numbers(std::move(numbers));
}

}  // namespace

Result<std::vector<int>> numbers_of_devices(const format::Json& list, std::string_view what) {
  std::vector<int> numbers;
  for (const format::Json& one : list) {
    const std::int64_t number = one.is_number_integer() ? one.get<std::int64_t>() : -1;
    if (number < 0 || number > kMaxNumber) {
      return Status(Code::kDataLoss, fmt::format("{}: expected numbers of devices", what));
    }
    numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

std::string encode_allocation(const Allocation& allocation) {
  return format::dump_json({{"cpus", numbers_or_null(allocation.cpus)},
                            {"gpus", numbers_or_null(allocation.gpus)},
                            {"memory_bytes", allocation.memory_bytes},
                            {"control_group", allocation.control_group}}) +
         "\n";
}

Result<Allocation> decode_allocation(std::string_view text, std::string_view what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(text, what));
  Allocation allocation;
  TRAINWARDEN_ASSIGN_OR_RETURN(allocation.cpus, numbers_or_nothing(json, "cpus", what));
  TRAINWARDEN_ASSIGN_OR_RETURN(allocation.gpus, numbers_or_nothing(json, "gpus", what));
  TRAINWARDEN_ASSIGN_OR_RETURN(allocation.memory_bytes, format::uint_field(json, "memory_bytes"));
  // Allocations of earlier versions have none.
  if (json.contains("control_group")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(allocation.control_group, format::string_field(json, "control_group"));
  }
  return allocation;
}

}  // namespace trainwarden::jobs
