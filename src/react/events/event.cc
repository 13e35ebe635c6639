#include "react/events/event.h"

#include <array>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/rfc3339.h"
#include "data/format/parse_json.h"

namespace trainwarden::events {
namespace {

using format::Json;
using format::OrderedJson;

constexpr const char* kWhat = "CloudEvent";
constexpr std::array kKinds = {ChangeKind::kRun, ChangeKind::kRule, ChangeKind::kAlert, ChangeKind::kJob};

OrderedJson change_to_json(const Event& event) {
  OrderedJson json = {{"kind", name(event.change.kind)},
                      {"rule", event.change.rule},
                      {"from", event.change.from},
                      {"to", event.change.to}};
  if (event.global_step >= 0) json["step"] = event.global_step;
  return json;
}

Result<ChangeKind> kind_field(const Json& change) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string word, format::string_field(change, "kind"));
  for (const ChangeKind kind : kKinds) {
    if (name(kind) == word) return kind;
  }
  return Status(Code::kDataLoss, fmt::format("field \"kind\": unknown kind of change \"{}\"", word));
}

Status take_own_seq(const Json& data, Event& event) {
  if (!data.contains("seq")) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t own_seq, format::uint_field(data, "seq"));
  if (own_seq != event.seq) event.own_seq = own_seq;
  return {};
}

Status take_change(const Json& data, Event& event) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* change, format::object_field(data, "change"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.change.kind, kind_field(*change));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.change.rule, format::string_field(*change, "rule"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.change.from, format::string_field(*change, "from"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.change.to, format::string_field(*change, "to"));
  if (change->contains("step")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.global_step, format::int_field(*change, "step", 0));
  }
  return {};
}

Status check_constants(const Json& json) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string version, format::string_field(json, "specversion"));
  if (version != "1.0") {
    return Status(Code::kDataLoss, fmt::format("field \"specversion\": expected \"1.0\", found \"{}\"", version));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, format::string_field(json, "datacontenttype"));
  if (type == "application/json") return {};
  return Status(Code::kDataLoss,
                fmt::format("field \"datacontenttype\": expected \"application/json\", found \"{}\"", type));
}

Result<Event> event_from_json(const Json& json) {
  Event event;
  TRAINWARDEN_RETURN_IF_ERROR(check_constants(json));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.seq, format::uint_field(json, "seq"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.id, format::string_field(json, "id"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.key, format::string_field(json, "key"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.type, format::string_field(json, "type"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.subject, format::string_field(json, "subject"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.source, format::string_field(json, "source"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string time, format::string_field(json, "time"));
  const auto unix_ns = parse_rfc3339(time);
  if (!unix_ns) return Status(Code::kDataLoss, fmt::format("field \"time\": \"{}\" is no RFC 3339 time", time));
  event.unix_ns = *unix_ns;
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* data, format::object_field(json, "data"));
  TRAINWARDEN_RETURN_IF_ERROR(take_own_seq(*data, event));
  TRAINWARDEN_RETURN_IF_ERROR(take_change(*data, event));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.headline, format::string_field(*data, "headline"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.text, format::string_field(*data, "text"));
  return event;
}

}  // namespace

std::string_view name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kRun: return "run";
    case ChangeKind::kRule: return "rule";
    case ChangeKind::kAlert: return "alert";
    case ChangeKind::kJob: return "job";
  }
  return "unknown";
}

void complete_data(Event& event) {
  event.data["seq"] = event.number();
  event.data["change"] = change_to_json(event);
  event.data["headline"] = event.headline;
  event.data["text"] = event.text;
}

std::string encode_event(const Event& event) {
  Event whole = event;
  complete_data(whole);
  return format::dump_json({{"specversion", "1.0"},
                            {"id", event.id},
                            {"source", event.source},
                            {"type", event.type},
                            {"subject", event.subject},
                            {"time", format_rfc3339(event.unix_ns)},
                            {"datacontenttype", "application/json"},
                            {"seq", event.seq},
                            {"key", event.key},
                            {"data", std::move(whole.data)}});
}

Result<Event> decode_event(std::string_view text) {
  return no_throw([&]() -> Result<Event> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, format::parse_json_object(text, kWhat));
    Result<Event> event = event_from_json(json);
    if (!event.ok()) return event.status().with_context(kWhat);
    TRAINWARDEN_ASSIGN_OR_RETURN(const OrderedJson ordered, format::parse_ordered_json(text, kWhat));
    event->data = ordered.at("data");  // once more, for the order of its fields
    return event;
  });
}

std::string encode_as_eventbridge(const Event& event) {
  Event whole = event;
  complete_data(whole);
  const bool alert = event.type == kAlertType;
  const auto arn = whole.data.find("TrainingJobArn");
  OrderedJson resources = OrderedJson::array();
  if (arn != whole.data.end()) resources.push_back(*arn);
  return format::dump_json({{"version", "0"},
                            {"id", event.id},
                            {"detail-type", alert ? kEventBridgeAlertType : "SageMaker Training Job State Change"},
                            {"source", alert ? "trainwarden" : "aws.sagemaker"},
                            {"account", "000000000000"},
                            {"time", format_rfc3339(event.unix_ns, 0)},
                            {"region", "local"},
                            {"resources", std::move(resources)},
                            {"detail", std::move(whole.data)}});
}

}  // namespace trainwarden::events
