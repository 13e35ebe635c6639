// Status and Result<T>: how every fallible call of Trainwarden reports.
//
// No exception crosses a public function: the hook runs inside a training that may take weeks. A message says what
// was expected, what was found and what to do next. Const methods may be called from many threads at once.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

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

// A T, or the Status that says why there is none. A union by hand: std::variant and std::optional make every source
// that fails at all a tenth longer to compile.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)), ok_(true) {}  // NOLINT: implicit on purpose, `return value;`
  Result(Status status) : status_(std::move(status)) {      // NOLINT: implicit on purpose, `return status;`
    assert(!status_.ok());
  }
  Result(const Result& other) requires std::is_copy_constructible_v<T> : status_(other.status_), ok_(other.ok_) {
    if (ok_) ::new (static_cast<void*>(std::addressof(value_))) T(other.value_);
  }
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : status_(std::move(other.status_)), ok_(other.ok_) {
    if (ok_) ::new (static_cast<void*>(std::addressof(value_))) T(std::move(other.value_));
  }
  // By value: of a copy, or of what is moved here.
  Result& operator=(Result other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    if (ok_) value_.~T();
    status_ = std::move(other.status_);
    ok_ = other.ok_;
    if (ok_) ::new (static_cast<void*>(std::addressof(value_))) T(std::move(other.value_));
    return *this;
  }
  ~Result() {
    if (ok_) value_.~T();
  }

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  Status status() const { return status_; }

  // Only when ok().
  T& value() & { return value_; }
  const T& value() const& { return value_; }
  T&& value() && { return std::move(value_); }
  T& operator*() & { return value_; }
  const T& operator*() const& { return value_; }
  T&& operator*() && { return std::move(value_); }
  T* operator->() { return std::addressof(value_); }
  const T* operator->() const { return std::addressof(value_); }

  T value_or(T fallback) const& { return ok_ ? value_ : std::move(fallback); }

 private:
  union {
    T value_;
  };
  Status status_;
  bool ok_ = false;
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
