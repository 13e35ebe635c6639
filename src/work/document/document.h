// Document: what a user wrote in TOML or JSON, in one form, with its places.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::document {

struct DocumentField;

struct DocumentValue {
  enum class Kind : std::uint8_t {
    kText,
    kInteger,
    kNumber,
    kBoolean,
    kList,
    kTable,
    kNull,
    kOther
  };  // kOther: a date

  Kind kind = Kind::kOther;
  std::string text;
  std::int64_t integer = 0;
  double number = 0;  // of kInteger too
  bool boolean = false;
  std::vector<DocumentValue> items;   // of a list
  std::vector<DocumentField> fields;  // of a table, each name once
  std::string place;                  // "job.toml, line 7", "job.json, inputs.train"; printable

  bool is(Kind wanted) const { return kind == wanted; }
};

struct DocumentField {
  std::string name;
  DocumentValue value;
};

// What a message says that was found: "a text", "a list", "true or false".
std::string_view name(DocumentValue::Kind kind);

// Takes `text` for JSON when it begins as only JSON can, with "{", "[{" or "[]", and for TOML otherwise; its top is a
// table, or in JSON also a list. `file` is for places. kInvalidArgument when it is neither.
Result<DocumentValue> parse(std::string_view text, const std::filesystem::path& file);

// Of kMaxTomlBytes at most. `expected` says what the file should be. kNotFound, kPermissionDenied, kInvalidArgument.
Result<DocumentValue> read(const std::filesystem::path& file, std::string_view expected);

}  // namespace trainwarden::document
