#include "ui/answers/answer_texts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "data/format/json.h"

namespace trainwarden::answers {
namespace {

using format::OrderedJson;

// Fields that hold what a person, a program or a machine said.
constexpr std::string_view kTextFields[] = {"place",  "folder",  "path",   "reason",   "requested_by", "message",
                                            "advice", "details", "where",  "headline", "text",         "answer",
                                            "error",  "note",    "config", "rule_file"};
constexpr std::string_view kRunFields[] = {"host", "command", "labels"};  // of the answer about the run
constexpr std::string_view kTokenFields[] = {"tokens_query", "tokens_key", "tokens_note"};

template <std::size_t size>
bool is_one_of(std::string_view field, const std::string_view (&fields)[size]) {
  return std::find(std::begin(fields), std::end(fields), field) != std::end(fields);
}

// Of the type it had, which whoever reads it counts on.
void make_empty(OrderedJson& value) {
  if (value.is_string()) value = "";
  if (value.is_array()) value = OrderedJson::array();
  if (value.is_object()) value = OrderedJson::object();
}

void empty_texts(OrderedJson& json) {
  const bool is_run = json.is_object() && json.contains("command");
  for (auto& [name, value] : json.items()) {
    const bool is_text = json.is_object() && value.is_string() && is_one_of(name, kTextFields);
    if (is_text || (is_run && is_one_of(name, kRunFields))) {
      make_empty(value);
    } else if (value.is_structured()) {
      empty_texts(value);
    }
  }
}

// A document of safetensors: 8 bytes with the size of the header, the header, the arrays, whose places count from
// there.
std::string without_tokens(const std::string& document) {
  constexpr std::size_t kSizeBytes = 8;
  if (document.size() < kSizeBytes) return document;
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < kSizeBytes; ++i) {
    size |= static_cast<std::uint64_t>(static_cast<unsigned char>(document[i])) << (8 * i);
  }
  if (size > document.size() - kSizeBytes) return document;
  const auto end = document.begin() + static_cast<std::ptrdiff_t>(kSizeBytes + size);
  OrderedJson header = OrderedJson::parse(document.begin() + kSizeBytes, end, nullptr, false);
  if (!header.is_object() || !header.contains("__metadata__")) return document;
  for (const std::string_view field : kTokenFields) header["__metadata__"].erase(std::string(field));
  std::string text = format::dump_json(header);
  text.resize((text.size() + kSizeBytes - 1) / kSizeBytes * kSizeBytes, ' ');  // the arrays stay aligned
  std::string bytes;
  for (std::size_t i = 0; i < kSizeBytes; ++i) bytes += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return bytes + text + std::string(end, document.end());
}

}  // namespace

std::string without_texts(const std::string& body) {
  OrderedJson json = OrderedJson::parse(body, nullptr, false);
  if (json.is_discarded()) return without_tokens(body);
  empty_texts(json);
  return format::dump_json(json);
}

}  // namespace trainwarden::answers
