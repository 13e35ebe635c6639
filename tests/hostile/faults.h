// Faults: what is wrong with answers about a hostile run.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trainwarden/status.h"

namespace trainwarden::hostile {

// Keeps the first fault. An internal error is one: an exception that nobody expected.
class Faults {
 public:
  void take(const Status& status, std::string_view what) {
    if (status.code() == Code::kInternal || status.message() == "out of memory") add(what, status.to_string());
  }
  template <class T>
  void take(const Result<T>& result, std::string_view what) {
    take(result.status(), what);
  }
  void add(std::string_view what, std::string_view fault) {
    if (fault_.empty()) fault_ = fmt::format("{}: {}", what, fault);
  }
  const std::string& fault() const { return fault_; }

 private:
  std::string fault_;
};

// The first of them and the last.
template <class T>
std::vector<T> ends_of(const std::vector<T>& all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<T> some(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most - 1));
  some.push_back(all.back());
  return some;
}

}  // namespace trainwarden::hostile
