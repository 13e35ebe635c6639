// ParameterReader: the text values of a rule's parameters as what they mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/mode.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"

namespace trainwarden::rules {

// The first bad value goes to status(); after it the answers mean nothing.
//
//   ParameterReader read(parameters);
//   const double threshold = read.number("threshold", 0);
//   TRAINWARDEN_RETURN_IF_ERROR(read.status());
class ParameterReader {
 public:
  // Every parameter that is asked for must be in `parameters`, which must outlive this.
  explicit ParameterReader(const RuleParameters& parameters) : parameters_(parameters) {}

  double number(const std::string& name, double lowest, double highest = std::numeric_limits<double>::max());
  std::optional<double> optional_number(const std::string& name, double lowest);  // none for "" and for "None"
  std::int64_t integer(const std::string& name, std::int64_t lowest, std::int64_t highest);
  bool boolean(const std::string& name);
  // The number of the choice, from 0.
  std::size_t choice(const std::string& name, std::initializer_list<std::string_view> choices);
  std::vector<std::string> list(const std::string& name);         // split at commas
  std::vector<std::string> collections(const std::string& name);  // a list of at least one
  std::vector<std::string> patterns(const std::string& name);     // a list in which each part compiles
  std::optional<Mode> mode(const std::string& name);              // none for ""

  const Status& status() const { return status_; }

 private:
  const std::string& text(const std::string& name) const { return parameters_.at(name); }
  void fail(const std::string& name, std::string_view expected);

  const RuleParameters& parameters_;
  Status status_;
};

}  // namespace trainwarden::rules
