// Status and Result<T>: how every fallible call of Trainwarden reports.
//
// No exception crosses a public function: the hook runs inside a training that may take weeks. A message says what
// was expected, what was found and what to do next. Const methods may be called from many threads at once.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "trainwarden/export.h"

namespace trainwarden {

// The canonical codes (as in gRPC), plus kNeedMore: not an error but "the data end here for now, call again".
enum class Code : std::uint8_t {
  kOk = 0,
  kCancelled,
  kUnknown,
  kInvalidArgument,   // the caller's input is wrong, whatever the state of the system
  kDeadlineExceeded,  // waited long enough
  kNotFound,
  kAlreadyExists,
  kPermissionDenied,
  kResourceExhausted,   // disk full, memory budget spent
  kFailedPrecondition,  // right call, wrong state
  kAborted,
  kOutOfRange,
  kUnimplemented,
  kInternal,     // a bug of ours
  kUnavailable,  // passing fault, try again
  kDataLoss,     // damaged or missing data
  kNeedMore,     // a reader reached the end of a growing file
};

// "data loss", "not found", ...
TRAINWARDEN_API std::string_view name(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // "not found: no run at ./runs/x; `trainwarden ls` lists the runs there are". "ok" when ok.
  TRAINWARDEN_API std::string to_string() const;

  // The same code with `context: ` before the message. Ok stays ok.
  TRAINWARDEN_API Status with_context(std::string_view context) const;

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

// A T, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}        // NOLINT: implicit on purpose, `return value;`
  Result(Status status) : state_(std::move(status)) {  // NOLINT: implicit on purpose, `return status;`
    assert(!std::get<Status>(state_).ok());
  }

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  Status status() const { return ok() ? Status() : std::get<Status>(state_); }

  // Only when ok().
  T& value() & { return *std::get_if<T>(&state_); }
  const T& value() const& { return *std::get_if<T>(&state_); }
  T&& value() && { return std::move(*std::get_if<T>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return std::get_if<T>(&state_); }
  const T* operator->() const { return std::get_if<T>(&state_); }

  T value_or(T fallback) const& { return ok() ? value() : std::move(fallback); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace trainwarden

// Returns from the enclosing function when `expression` (a Status) is not ok.
#define TRAINWARDEN_RETURN_IF_ERROR(expression)                                               \
  do {                                                                                        \
    if (::trainwarden::Status tw_status_ = (expression); !tw_status_.ok()) return tw_status_; \
  } while (false)

// TRAINWARDEN_ASSIGN_OR_RETURN(auto file, storage.open(path));
#define TRAINWARDEN_ASSIGN_OR_RETURN(declaration, expression) \
  TRAINWARDEN_ASSIGN_OR_RETURN_IMPL_(TRAINWARDEN_CONCAT_(tw_result_, __LINE__), declaration, expression)
#define TRAINWARDEN_ASSIGN_OR_RETURN_IMPL_(result, declaration, expression) \
  auto result = (expression);                                               \
  if (!result.ok()) return result.status();                                 \
  declaration = std::move(result).value()
#define TRAINWARDEN_CONCAT_(a, b) TRAINWARDEN_CONCAT_IMPL_(a, b)
#define TRAINWARDEN_CONCAT_IMPL_(a, b) a##b
