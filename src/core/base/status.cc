#include "trainwarden/status.h"

#include <fmt/format.h>

namespace trainwarden {

std::string_view name(Code code) {
  switch (code) {
    case Code::kOk: return "ok";
    case Code::kCancelled: return "cancelled";
    case Code::kUnknown: return "unknown";
    case Code::kInvalidArgument: return "invalid argument";
    case Code::kDeadlineExceeded: return "deadline exceeded";
    case Code::kNotFound: return "not found";
    case Code::kAlreadyExists: return "already exists";
    case Code::kPermissionDenied: return "permission denied";
    case Code::kResourceExhausted: return "resource exhausted";
    case Code::kFailedPrecondition: return "failed precondition";
    case Code::kAborted: return "aborted";
    case Code::kOutOfRange: return "out of range";
    case Code::kUnimplemented: return "unimplemented";
    case Code::kInternal: return "internal error";
    case Code::kUnavailable: return "unavailable";
    case Code::kDataLoss: return "data loss";
    case Code::kNeedMore: return "need more";
  }
  return "unknown code";
}

std::string Status::to_string() const {
  return ok() ? "ok" : fmt::format("{}: {}", name(code_), message_);
}

Status Status::with_context(std::string_view context) const {
  return ok() ? Status() : Status(code_, fmt::format("{}: {}", context, message_));
}

}  // namespace trainwarden
