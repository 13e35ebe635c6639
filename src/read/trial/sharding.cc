#include "read/trial/sharding.h"

#include <utility>

#include "data/format/json.h"

namespace trainwarden::trial {
namespace {

using format::Json;

// Of workers, and of the dimensions of a mesh.
constexpr std::int64_t kMaxParts = 1 << 20;
constexpr std::size_t kMaxDimensions = 16;

Status damaged(std::string_view what) {
  return Status(Code::kDataLoss, std::string(what)).with_context(kShardsSignal);
}

Result<std::vector<std::int64_t>> integers_field(const Json& object, const char* field) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* listed, format::array_field(object, field));
  if (listed->size() > kMaxDimensions) return damaged("a list of more than 16 numbers");
  std::vector<std::int64_t> numbers;
  for (const Json& number : *listed) {
    if (!number.is_number_integer()) return damaged("a list holds what is no integer");
    numbers.push_back(number.get<std::int64_t>());
  }
  return numbers;
}

Result<Sharding> parse_sharding(const Json& entry) {
  Sharding sharding;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::int64_t> sizes, integers_field(entry, "shape"));
  TRAINWARDEN_ASSIGN_OR_RETURN(sharding.shape, Shape::from(sizes));
  TRAINWARDEN_ASSIGN_OR_RETURN(sharding.part, integers_field(entry, "part"));
  TRAINWARDEN_ASSIGN_OR_RETURN(sharding.parts, format::int_field(entry, "parts", 1, kMaxParts));
  return sharding;
}

}  // namespace

std::string_view parameter_of(std::string_view tensor) {
  constexpr std::string_view kGradient = "gradient/", kState = "optimizer_state/";
  if (tensor.substr(0, kGradient.size()) == kGradient) return tensor.substr(kGradient.size());
  if (tensor.substr(0, kState.size()) != kState) return tensor;
  tensor.remove_prefix(kState.size());
  return tensor.substr(0, tensor.rfind('/'));
}

Result<std::optional<Sharding>> find_sharding(std::string_view text, std::string_view parameter) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, format::parse_json_object(text, kShardsSignal));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* tensors, format::array_field(json, "tensors"));
  for (const Json& entry : *tensors) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string name, format::string_field(entry, "name"));
    if (name != parameter) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(Sharding sharding, parse_sharding(entry));
    return std::optional(std::move(sharding));
  }
  return std::optional<Sharding>();
}

}  // namespace trainwarden::trial
