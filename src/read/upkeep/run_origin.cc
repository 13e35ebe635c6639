#include "read/upkeep/run_origin.h"

#include <fmt/format.h>

#include "data/format/parse_json.h"

namespace trainwarden::upkeep {
namespace {

using format::Json;

constexpr const char* kMadeFrom = "made_from";

Json json_of(const RunOrigin& origin) {
  Json lost = Json::array();
  for (const OriginLoss& loss : origin.lost) {
    lost.push_back({{"cause", loss.cause}, {"count", loss.count}, {"bytes", loss.bytes}});
  }
  return {{"how", origin.how},         {"run", origin.run},
          {"address", origin.address}, {"made_unix_ns", origin.made_unix_ns},
          {"made_by", origin.made_by}, {"lost", std::move(lost)}};
}

RunOrigin origin_of(const Json& json) {
  RunOrigin origin;
  origin.how = json.value("how", "");
  origin.run = json.value("run", "");
  origin.address = json.value("address", "");
  origin.made_unix_ns = json.value("made_unix_ns", std::int64_t{0});
  origin.made_by = json.value("made_by", "");
  for (const Json& loss : json.value("lost", Json::array())) {
    origin.lost.push_back(
        {loss.value("cause", ""), loss.value("count", std::uint64_t{0}), loss.value("bytes", std::uint64_t{0})});
  }
  return origin;
}

Status damaged_origin(std::string_view why) {
  return Status(Code::kDataLoss, fmt::format("{}: `{}` does not say which runs it was made from: {}", journal::kRunFile,
                                             kMadeFrom, why));
}

}  // namespace

std::string encode_run_info(const journal::RunInfo& info, const std::vector<RunOrigin>& origins) {
  std::string text = journal::encode_run_info(info);
  if (origins.empty()) return text;
  Result<Json> json = format::parse_json(text, journal::kRunFile);
  if (!json.ok()) return text;  // our own: it parses
  Json list = Json::array();
  for (const RunOrigin& origin : origins) list.push_back(json_of(origin));
  (*json)[kMadeFrom] = std::move(list);
  return json->dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<RunOrigin>> read_origins(const storage::Storage& storage) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, storage.read(journal::kRunFile));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, format::parse_json(text, journal::kRunFile));
  std::vector<RunOrigin> origins;
  if (!json.is_object() || !json.contains(kMadeFrom)) return origins;
  if (!json.at(kMadeFrom).is_array()) return damaged_origin("it is no list");
  try {
    for (const Json& each : json.at(kMadeFrom)) origins.push_back(origin_of(each));
  } catch (const Json::exception& error) {
    return damaged_origin(error.what());
  }
  return origins;
}

}  // namespace trainwarden::upkeep
