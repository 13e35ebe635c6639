// MetricReader: the values that definitions find in the records of a log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/regex.h"
#include "trainwarden/status.h"
#include "work/log_metrics/definition.h"

namespace trainwarden::log_metrics {

struct MetricValue {
  std::size_t definition = 0;  // its place in the set
  double value = 0;
  std::optional<std::int64_t> step;  // of the pattern's group `step`, when it took part and is a whole number
  Regex::Span match;                 // where in the record
};

// What a definition has found so far.
struct MetricCounts {
  std::uint64_t values = 0;
  std::uint64_t parse_errors = 0;  // matches whose value is no number
  std::string first_unreadable;    // the text of the first of these
  std::uint64_t given_up = 0;      // records on which the search would have backtracked without end
  bool switched_off = false;       // given up kMaxGivenUp times: no longer searched for
};

inline constexpr std::uint64_t kMaxGivenUp = 10;

// For one thread: it keeps its working memory from record to record.
class MetricReader {
 public:
  // `set` as read by definition.h. kInvalidArgument when a pattern does not compile.
  static Result<MetricReader> create(DefinitionSet set);

  // By definition in the order of the set, and by place within a record. Valid until the next call.
  const std::vector<MetricValue>& read(std::string_view record);

  const DefinitionSet& definitions() const { return set_; }
  const std::vector<MetricCounts>& counts() const { return counts_; }  // as many as there are definitions

 private:
  struct Pattern {
    Regex regex;
    std::optional<std::size_t> step_group;
    std::size_t head_bytes;
  };

  MetricReader(DefinitionSet set, std::vector<Pattern> patterns);
  void read_one(std::size_t definition, std::string_view record);
  bool find_next(std::size_t definition, std::string_view record, std::size_t from);
  bool is_taken(Regex::Span span) const;
  void take_value(std::size_t definition, std::string_view record);

  DefinitionSet set_;
  std::vector<Pattern> patterns_;
  std::vector<std::size_t> order_;  // in which definitions are searched for: as they come, or longest head first
  std::vector<MetricCounts> counts_;
  std::vector<MetricValue> values_;
  std::vector<Regex::Span> taken_;  // of this record, in strict sets: what a definition has matched
  Regex::Match match_;
};

}  // namespace trainwarden::log_metrics
