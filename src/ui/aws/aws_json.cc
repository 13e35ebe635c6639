#include "ui/aws/aws_json.h"

#include <cmath>

#include <fmt/format.h>

#include "core/base/rfc3339.h"

namespace trainwarden::aws {
namespace {

using format::Json;
using format::OrderedJson;

constexpr std::int64_t kNsPerMillisecond = 1'000'000;
constexpr double kMostSeconds = 9e9;  // fits 64 bits of nanoseconds

Status wrong_kind(const char* field, const char* expected) {
  return Status(Code::kInvalidArgument, fmt::format("{}: expected {}", field, expected));
}

const Json* given(const Json& request, const char* field) {
  const auto found = request.find(field);
  return found == request.end() || found->is_null() ? nullptr : &*found;
}

bool is_time(const std::string& field) {
  return field.ends_with("Time") || field == "Timestamp" || field == "TimeStamp";
}

}  // namespace

AwsAnswer aws_error(const char* code, std::string_view message) {
  const bool is_ours = std::string_view(code) == kInternal;
  return {is_ours ? 500u : 400u, {{"__type", code}, {"message", message}}};
}

AwsAnswer aws_error(const Status& status) {
  switch (status.code()) {
    case Code::kNotFound: return aws_error(kNotFound, status.message());
    case Code::kAlreadyExists: return aws_error(kInUse, status.message());
    case Code::kPermissionDenied: return aws_error(kAccessDenied, status.message());
    case Code::kInvalidArgument:
    case Code::kFailedPrecondition: return aws_error(kValidation, status.message());
    default: return aws_error(kInternal, status.message());
  }
}

Result<std::string> text_or(const Json& request, const char* field, const std::string& otherwise) {
  const Json* const value = given(request, field);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) return wrong_kind(field, "a text");
  return value->get<std::string>();
}

Result<std::int64_t> number_or(const Json& request, const char* field, std::int64_t otherwise) {
  const Json* const value = given(request, field);
  if (value == nullptr) return otherwise;
  if (!value->is_number_integer()) return wrong_kind(field, "a whole number");
  return value->get<std::int64_t>();
}

Result<bool> flag_or(const Json& request, const char* field, bool otherwise) {
  const Json* const value = given(request, field);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) return wrong_kind(field, "true or false");
  return value->get<bool>();
}

Result<std::optional<std::int64_t>> time_of(const Json& request, const char* field) {
  const Json* const value = given(request, field);
  if (value == nullptr) return std::optional<std::int64_t>();
  if (value->is_number() && std::abs(value->get<double>()) < kMostSeconds) {
    return std::optional<std::int64_t>(static_cast<std::int64_t>(value->get<double>() * 1e9));
  }
  const auto parsed = value->is_string() ? parse_rfc3339(value->get<std::string>()) : std::nullopt;
  if (!parsed) return wrong_kind(field, "a time: seconds since 1970, or RFC 3339");
  return parsed;
}

double seconds_of(std::string_view rfc3339) {
  return static_cast<double>(parse_rfc3339(rfc3339).value_or(0) / kNsPerMillisecond) / 1000;
}

void write_times_as_seconds(OrderedJson& json) {
  for (auto& [field, value] : json.items()) {
    if (value.is_string() && is_time(field)) {
      value = seconds_of(value.get<std::string>());
    } else if (value.is_array()) {
      for (OrderedJson& one : value) {
        if (one.is_object()) write_times_as_seconds(one);
      }
    }
  }
}

}  // namespace trainwarden::aws
