// smdebug's index files: opening a run means parsing one of them for each step and worker, so they are read by
// simdjson.
#include "data/foreign/smdebug_index.h"

#include <algorithm>
#include <array>
#include <new>
#include <optional>

#include <fmt/format.h>
#include <simdjson.h>

#include "core/base/text.h"
#include "data/foreign/smdebug_layout.h"
#include "data/format/json.h"

namespace trainwarden::foreign {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

std::string described(const element& found) {
  switch (found.type()) {
    case element_type::ARRAY: return "an array";
    case element_type::OBJECT: return "an object";
    case element_type::STRING: return "a string";
    default: return simdjson::minify(found);  // a number, true, false or null
  }
}

Status damaged(std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("smdebug's index: {}", what));
}

Status unexpected(std::string_view field, std::string_view expected, const element& found) {
  return damaged(fmt::format("\"{}\": expected {}, found {}", field, expected, described(found)));
}

Status missing(std::string_view field) {
  return damaged(fmt::format("\"{}\" expected, nothing found", field));
}

Status read_text(std::string_view field, const element& found, std::string& text) {
  std::string_view view;
  if (found.get(view) != simdjson::SUCCESS) return unexpected(field, "a string", found);
  text.assign(view);
  return {};
}

Status read_count(std::string_view field, const element& found, std::uint64_t& number) {
  if (found.get(number) != simdjson::SUCCESS) return unexpected(field, "an integer of 0 or more", found);
  return {};
}

Status read_mode(const element& found, Mode& mode) {
  std::string_view text;
  if (found.get(text) != simdjson::SUCCESS) return unexpected("mode", "a string", found);
  const std::optional<Mode> parsed = parse_mode(trim(text));
  if (!parsed) {
    return damaged(fmt::format("\"mode\": expected TRAIN, EVAL, PREDICT or GLOBAL, found \"{}\"", printable(text)));
  }
  mode = *parsed;
  return {};
}

Status read_meta(const element& found, SmdebugIndex& index) {
  simdjson::dom::object meta;
  if (found.get(meta) != simdjson::SUCCESS) return unexpected("meta", "an object", found);
  bool has_mode = false;
  bool has_mode_step = false;
  for (const auto& [key, value] : meta) {
    if (key == "mode") {
      TRAINWARDEN_RETURN_IF_ERROR(read_mode(value, index.mode));
      has_mode = true;
    } else if (key == "mode_step") {
      if (value.get(index.mode_step) != simdjson::SUCCESS) return unexpected(key, "an integer", value);
      has_mode_step = true;
    } else if (key == "event_file_name" && !value.is_null()) {
      TRAINWARDEN_RETURN_IF_ERROR(read_text(key, value, index.event_file));
    }
  }
  if (!has_mode) return missing("mode");
  return has_mode_step ? Status() : missing("mode_step");
}

Status read_item(const element& found, SmdebugTensorPlace& place) {
  simdjson::dom::object object;
  if (found.get(object) != simdjson::SUCCESS) return unexpected("tensor_payload", "an array of objects", found);
  bool has_tag = false;
  bool has_offset = false;
  bool has_bytes = false;
  for (const auto& [key, value] : object) {
    if (key == "tensorname") {
      TRAINWARDEN_RETURN_IF_ERROR(read_text(key, value, place.tag));
      has_tag = true;
    } else if (key == "start_idx") {
      TRAINWARDEN_RETURN_IF_ERROR(read_count(key, value, place.offset));
      has_offset = true;
    } else if (key == "length") {
      TRAINWARDEN_RETURN_IF_ERROR(read_count(key, value, place.bytes));
      has_bytes = true;
    }
  }
  if (!has_tag) return missing("tensorname");
  if (!has_offset) return missing("start_idx");
  return has_bytes ? Status() : missing("length");
}

Status read_shape(const element& found, Shape& shape) {
  simdjson::dom::array array;
  if (found.get(array) != simdjson::SUCCESS) return unexpected("shape", "an array", found);
  std::array<std::int64_t, Shape::kMaxRank> sizes{};
  std::size_t rank = 0;
  for (const element size : array) {
    if (rank == sizes.size()) return damaged(fmt::format("\"shape\": more than {} dimensions", sizes.size()));
    if (size.get(sizes[rank++]) != simdjson::SUCCESS) return unexpected("shape", "an array of integers", size);
  }
  const Result<Shape> checked = Shape::from(std::span(sizes).first(rank));
  if (!checked.ok()) return damaged(checked.status().message());
  shape = *checked;
  return {};
}

Status read_item(const element& found, SmdebugShape& shape) {
  simdjson::dom::object object;
  if (found.get(object) != simdjson::SUCCESS) return unexpected("shape_payload", "an array of objects", found);
  bool has_tensor = false;
  bool has_shape = false;
  shape.original_name.clear();
  for (const auto& [key, value] : object) {
    if (key == "tensorname") {
      TRAINWARDEN_RETURN_IF_ERROR(read_text(key, value, shape.tensor));
      has_tensor = true;
    } else if (key == "originalname" && !value.is_null()) {
      TRAINWARDEN_RETURN_IF_ERROR(read_text(key, value, shape.original_name));
    } else if (key == "shape") {
      TRAINWARDEN_RETURN_IF_ERROR(read_shape(value, shape.shape));
      has_shape = true;
    }
  }
  if (!has_tensor) return missing("tensorname");
  if (shape.original_name.empty()) shape.original_name = shape.tensor;
  return has_shape ? Status() : missing("shape");
}

// Overwrites `items`, whose strings keep their memory.
template <class Item>
Status read_items(std::string_view field, const element& found, std::vector<Item>& items) {
  simdjson::dom::array array;
  if (found.get(array) != simdjson::SUCCESS) return unexpected(field, "an array", found);
  std::size_t count = 0;
  for (const element item : array) {
    if (count == items.size()) items.emplace_back();
    TRAINWARDEN_RETURN_IF_ERROR(read_item(item, items[count++]));
  }
  items.resize(count);
  return {};
}

// A field that is there twice counts as its last, as in Python.
Status read_index(const element& document, SmdebugIndex& index) {
  simdjson::dom::object object;
  if (document.get(object) != simdjson::SUCCESS) return damaged("expected a JSON object");
  std::optional<element> meta;
  std::optional<element> tensors;
  std::optional<element> shapes;
  for (const auto& [key, value] : object) {
    if (key == "meta") meta = value;
    if (key == "tensor_payload") tensors = value;
    if (key == "shape_payload") shapes = value;
  }
  if (tensors && tensors->is_null()) tensors.reset();
  if (shapes && shapes->is_null()) shapes.reset();
  if (!meta) return missing("meta");
  if (!tensors && !shapes) return damaged("\"tensor_payload\" or \"shape_payload\" expected, nothing found");
  index.event_file.clear();
  TRAINWARDEN_RETURN_IF_ERROR(read_meta(*meta, index));
  if (!tensors) index.tensors.clear();
  if (!shapes) index.shapes.clear();
  if (tensors) TRAINWARDEN_RETURN_IF_ERROR(read_items("tensor_payload", *tensors, index.tensors));
  return shapes ? read_items("shape_payload", *shapes, index.shapes) : Status();
}

}  // namespace

std::string encode_smdebug_index(const SmdebugIndex& index) {
  format::OrderedJson meta = {{"mode", smdebug_mode_name(index.mode)}, {"mode_step", index.mode_step}};
  if (!index.event_file.empty()) meta["event_file_name"] = index.event_file;
  format::OrderedJson tensors = format::OrderedJson::array();
  for (const SmdebugTensorPlace& place : index.tensors) {
    tensors.push_back({{"tensorname", place.tag}, {"start_idx", place.offset}, {"length", place.bytes}});
  }
  format::OrderedJson shapes = format::OrderedJson::array();
  for (const SmdebugShape& shape : index.shapes) {
    const std::span<const std::int64_t> sizes = shape.shape.sizes();
    shapes.push_back({{"tensorname", shape.tensor},
                      {"originalname", shape.original_name},
                      {"shape", std::vector<std::int64_t>(sizes.begin(), sizes.end())}});
  }
  return format::dump_json({{"meta", meta}, {"tensor_payload", tensors}, {"shape_payload", shapes}});
}

struct SmdebugIndexParser::Parser {
  simdjson::dom::parser dom;
  std::vector<char> padded;  // the parser reads some bytes behind the document
};

SmdebugIndexParser::SmdebugIndexParser() : parser_(std::make_unique<Parser>()) {}
SmdebugIndexParser::~SmdebugIndexParser() = default;

Status SmdebugIndexParser::parse(std::string_view json, SmdebugIndex& index) {
  try {
    std::vector<char>& padded = parser_->padded;
    if (padded.size() < json.size() + simdjson::SIMDJSON_PADDING) {
      padded.resize(json.size() + simdjson::SIMDJSON_PADDING);
    }
    std::ranges::copy(json, padded.begin());
    element document;
    const auto error = parser_->dom.parse(padded.data(), json.size(), /*realloc_if_needed=*/false).get(document);
    if (error != simdjson::SUCCESS) return damaged(simdjson::error_message(error));
    return read_index(document, index);
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "smdebug's index: not enough memory to read it");
  }
}

}  // namespace trainwarden::foreign
