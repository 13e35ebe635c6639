#include "data/format/capture_events.h"

#include <fmt/format.h>

#include "data/format/json.h"

namespace trainwarden::format {
namespace {

constexpr const char* kBudgetType = "budget";
constexpr const char* kAcceptedType = "capture_accepted";
constexpr const char* kRefusedType = "capture_refused";

Result<double> share_field(const Json& object, const char* field) {
  const auto member = object.find(field);
  if (member != object.end() && member->is_number()) return member->get<double>();
  return Status(Code::kDataLoss, fmt::format("field \"{}\": expected a number", field));
}

Result<Mode> mode_field(const Json& object, const char* field) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, string_field(object, field));
  if (const auto mode = parse_mode(text)) return *mode;
  return Status(Code::kDataLoss, fmt::format("field \"{}\": unknown mode \"{}\"", field, text));
}

}  // namespace

std::string encode_budget_event(const BudgetEvent& event) {
  return dump_json({{"type", kBudgetType},
                    {"global_step", event.global_step},
                    {"mode", name(event.mode)},
                    {"interval_factor", event.interval_factor},
                    {"losses_factor", event.losses_factor},
                    {"signals_factor", event.signals_factor},
                    {"dropped", event.dropped},
                    {"budget", event.budget},
                    {"training_ns", event.training_ns},
                    {"capture_ns", event.capture_ns}});
}

std::string encode_capture_answer(const CaptureAnswer& answer) {
  if (!answer.accepted) {
    return dump_json({{"type", kRefusedType}, {"key", answer.key}, {"source", answer.source}, {"error", answer.error}});
  }
  return dump_json(
      {{"type", kAcceptedType}, {"key", answer.key}, {"source", answer.source}, {"global_step", answer.global_step}});
}

Result<std::optional<BudgetEvent>> decode_budget_event(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "event"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, string_field(json, "type"));
  if (type != kBudgetType) return std::optional<BudgetEvent>();
  BudgetEvent event;
  TRAINWARDEN_ASSIGN_OR_RETURN(event.global_step, int_field(json, "global_step"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.mode, mode_field(json, "mode"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.interval_factor, int_field(json, "interval_factor", 1));
  if (json.contains("losses_factor")) {  // not in runs of before there was one
    TRAINWARDEN_ASSIGN_OR_RETURN(event.losses_factor, int_field(json, "losses_factor", 1));
  }
  event.signals_factor = event.losses_factor;  // of before they had one of their own
  if (json.contains("signals_factor")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.signals_factor, int_field(json, "signals_factor", 1));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(event.dropped, strings_field(json, "dropped"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.budget, share_field(json, "budget"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.training_ns, int_field(json, "training_ns", 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.capture_ns, int_field(json, "capture_ns", 0));
  return std::optional(std::move(event));
}

Result<std::optional<CaptureAnswer>> decode_capture_answer(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "event"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, string_field(json, "type"));
  if (type != kAcceptedType && type != kRefusedType) return std::optional<CaptureAnswer>();
  CaptureAnswer answer;
  answer.accepted = type == kAcceptedType;
  TRAINWARDEN_ASSIGN_OR_RETURN(answer.key, string_field(json, "key"));
  TRAINWARDEN_ASSIGN_OR_RETURN(answer.source, string_field(json, "source"));
  if (answer.accepted) {
    TRAINWARDEN_ASSIGN_OR_RETURN(answer.global_step, int_field(json, "global_step", 0));
  } else {
    TRAINWARDEN_ASSIGN_OR_RETURN(answer.error, string_field(json, "error"));
  }
  return std::optional(std::move(answer));
}

}  // namespace trainwarden::format
