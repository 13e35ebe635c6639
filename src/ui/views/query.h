// Query: the parameters of a question, as texts that came from somebody else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/mode.h"
#include "trainwarden/status.h"

namespace trainwarden::views {

// Every getter answers kInvalidArgument, with the parameter's name, what was expected and what was found.
class Query {
 public:
  using Parameters = std::map<std::string, std::string>;
  Query() = default;
  explicit Query(Parameters parameters) : parameters_(std::move(parameters)) {}

  bool has(std::string_view name) const;
  std::string text(std::string_view name, std::string_view fallback = "") const;
  Result<std::string> required_text(std::string_view name) const;
  // Within [lowest, highest]; `fallback` when it is not there.
  Result<std::int64_t> integer(std::string_view name, std::int64_t lowest, std::int64_t highest,
                               std::int64_t fallback) const;
  Result<std::int64_t> required_integer(std::string_view name, std::int64_t lowest, std::int64_t highest) const;
  Result<double> number(std::string_view name, double fallback) const;
  // Separated by commas, at most `most`; empty when it is not there.
  Result<std::vector<std::string>> list(std::string_view name, std::size_t most) const;
  Result<std::vector<std::int64_t>> integers(std::string_view name, std::int64_t lowest, std::int64_t highest,
                                             std::size_t most) const;
  Result<std::optional<Mode>> mode() const;  // parameter "mode"; none: all modes

  const Parameters& parameters() const { return parameters_; }
  // kInvalidArgument for a parameter that is none of `known`; the message names the nearest.
  Status only(std::initializer_list<std::string_view> known) const;

 private:
  const std::string* find(std::string_view name) const;
  Parameters parameters_;
};

}  // namespace trainwarden::views
