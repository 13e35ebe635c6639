#include "data/format/step_end.h"

#include <fmt/format.h>

#include "data/format/json.h"

namespace trainwarden::format {
namespace {

Result<LossRow> decode_loss(const Json& json) {
  LossRow loss;
  TRAINWARDEN_ASSIGN_OR_RETURN(loss.cause, string_field(json, "cause"));
  TRAINWARDEN_ASSIGN_OR_RETURN(loss.count, uint_field(json, "count"));
  TRAINWARDEN_ASSIGN_OR_RETURN(loss.bytes, uint_field(json, "bytes"));
  TRAINWARDEN_ASSIGN_OR_RETURN(loss.message, string_field(json, "message"));
  return loss;
}

}  // namespace

std::string encode_step_end(const StepEndRecord& record) {
  OrderedJson losses = OrderedJson::array();
  for (const LossRow& loss : record.losses) {
    losses.push_back({{"cause", loss.cause}, {"count", loss.count}, {"bytes", loss.bytes}, {"message", loss.message}});
  }
  return dump_json({{"mode", name(record.mode)}, {"mode_step", record.mode_step}, {"losses", std::move(losses)}});
}

Result<StepEndRecord> decode_step_end(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "step end"));
  StepEndRecord record;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string mode_name, string_field(json, "mode"));
  const std::optional<Mode> mode = parse_mode(mode_name);
  if (!mode) return Status(Code::kDataLoss, fmt::format("step end: field \"mode\": unknown mode \"{}\"", mode_name));
  record.mode = *mode;
  TRAINWARDEN_ASSIGN_OR_RETURN(record.mode_step, int_field(json, "mode_step"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* losses, array_field(json, "losses"));
  record.losses.reserve(losses->size());
  for (const Json& item : *losses) {
    TRAINWARDEN_ASSIGN_OR_RETURN(LossRow loss, decode_loss(item));
    record.losses.push_back(std::move(loss));
  }
  return record;
}

}  // namespace trainwarden::format
