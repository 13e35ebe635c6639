// Answers of AWS's JSON protocol, version 1.1, and what requests hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "data/format/json.h"
#include "trainwarden/status.h"

namespace trainwarden::aws {

inline constexpr const char* kValidation = "ValidationException";
inline constexpr const char* kNotFound = "ResourceNotFound";
inline constexpr const char* kInUse = "ResourceInUse";
inline constexpr const char* kAccessDenied = "AccessDeniedException";
inline constexpr const char* kInternal = "InternalFailure";

struct AwsAnswer {
  unsigned status = 200;
  format::OrderedJson body = format::OrderedJson::object();
};

// 400, and 500 for kInternal: {"__type": code, "message": ...}.
AwsAnswer aws_error(const char* code, std::string_view message);
// The same of a status: what is wrong with a request is kValidation.
AwsAnswer aws_error(const Status& status);

// A field of a request, and what it is without one. kInvalidArgument when it is of another kind.
Result<std::string> text_or(const format::Json& request, const char* field, const std::string& otherwise);
Result<std::int64_t> number_or(const format::Json& request, const char* field, std::int64_t otherwise);
Result<bool> flag_or(const format::Json& request, const char* field, bool otherwise);
// A time: seconds since 1970, which may have a fraction, or RFC 3339. In nanoseconds.
Result<std::optional<std::int64_t>> time_of(const format::Json& request, const char* field);

// Times that the program writes as RFC 3339, as seconds since 1970: of the fields whose names say so, in lists too.
void write_times_as_seconds(format::OrderedJson& json);
double seconds_of(std::string_view rfc3339);  // 0 when it is none

}  // namespace trainwarden::aws
