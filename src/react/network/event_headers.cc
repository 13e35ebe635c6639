#include "react/network/event_headers.h"

#include <fmt/format.h>

#include "data/format/parse_json.h"

namespace trainwarden::network {
namespace {

Status not_a_cloudevent() {
  return Status(Code::kInvalidArgument,
                "mode=binary sends CloudEvents with JSON data only, and this event comes in another form; leave "
                "mode out, or format");
}

std::string text_of(const format::OrderedJson& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::string percent_encode(std::string_view value) {
  std::string encoded;
  for (const char byte : value) {
    const bool plain = byte > ' ' && byte < 0x7f && byte != '"' && byte != '%';
    encoded += plain ? std::string(1, byte) : fmt::format("%{:02X}", static_cast<unsigned char>(byte));
  }
  return encoded;
}

Result<BinaryEvent> to_binary(std::string_view document) {
  const auto parsed = format::parse_ordered_json(document, "event");
  if (!parsed.ok()) return not_a_cloudevent();
  const format::OrderedJson& event = *parsed;
  if (!event.is_object() || !event.contains("specversion") || event.contains("data_base64")) return not_a_cloudevent();
  BinaryEvent binary;
  binary.content_type = "application/json";
  for (const auto& [name, value] : event.items()) {
    if (name == "data") {
      binary.body = value.dump();
    } else if (name == "datacontenttype") {
      binary.content_type = text_of(value);
    } else if (!value.is_null()) {
      binary.headers.emplace_back("ce-" + name, percent_encode(text_of(value)));
    }
  }
  if (binary.content_type.find("json") == std::string::npos) return not_a_cloudevent();
  return binary;
}

}  // namespace trainwarden::network
