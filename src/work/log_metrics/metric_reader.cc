#include "work/log_metrics/metric_reader.h"

#include <algorithm>
#include <numeric>

#include "core/base/text.h"
#include "work/log_metrics/literal_head.h"
#include "work/log_metrics/metric_value.h"

namespace trainwarden::log_metrics {
namespace {

constexpr std::size_t kMaxUnreadableBytes = 80;

// The first group that took part, but for that of the step; the whole match when there is none.
Regex::Span value_span(const Regex::Match& match, std::optional<std::size_t> step_group) {
  for (std::size_t i = 0; i < match.groups.size(); ++i) {
    if (match.groups[i] && step_group != i + 1) return *match.groups[i];
  }
  return match.whole;
}

std::optional<std::int64_t> step_in(const Regex::Match& match, std::string_view record,
                                    std::optional<std::size_t> step_group) {
  if (!step_group || !match.groups[*step_group - 1]) return std::nullopt;
  return parse_int(trim(match.groups[*step_group - 1]->in(record)));
}

}  // namespace

Result<MetricReader> MetricReader::create(DefinitionSet set) {
  std::vector<Pattern> patterns;
  for (const MetricDefinition& definition : set.definitions) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Regex regex, Regex::compile(definition.regex));
    const std::optional<std::size_t> step_group = regex.group_named("step");
    patterns.push_back({std::move(regex), step_group, literal_head(definition.regex).text.size()});
  }
  return MetricReader(std::move(set), std::move(patterns));
}

MetricReader::MetricReader(DefinitionSet set, std::vector<Pattern> patterns)
    : set_(std::move(set)), patterns_(std::move(patterns)), order_(patterns_.size()), counts_(patterns_.size()) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  if (!set_.strict) return;
  std::stable_sort(order_.begin(), order_.end(),
                   [this](std::size_t a, std::size_t b) { return patterns_[a].head_bytes > patterns_[b].head_bytes; });
}

const std::vector<MetricValue>& MetricReader::read(std::string_view record) {
  values_.clear();
  taken_.clear();
  for (const std::size_t definition : order_) {
    if (!counts_[definition].switched_off) read_one(definition, record);
  }
  if (set_.strict) {
    std::stable_sort(values_.begin(), values_.end(),
                     [](const MetricValue& a, const MetricValue& b) { return a.definition < b.definition; });
  }
  return values_;
}

void MetricReader::read_one(std::size_t definition, std::string_view record) {
  const MatchChoice choice = set_.definitions[definition].match;
  std::size_t from = 0;
  std::optional<Regex::Match> last;
  while (find_next(definition, record, from)) {
    from = std::max(match_.whole.end, match_.whole.begin + 1);
    if (choice == MatchChoice::kLast) {
      last = match_;
      continue;
    }
    take_value(definition, record);
    if (choice == MatchChoice::kFirst) return;
  }
  if (!last) return;
  match_ = *std::move(last);
  take_value(definition, record);
}

// The next match that no other definition has taken, in match_.
bool MetricReader::find_next(std::size_t definition, std::string_view record, std::size_t from) {
  for (;;) {
    switch (patterns_[definition].regex.search(record, from, match_)) {
      case Regex::Outcome::kNotFound: return false;
      case Regex::Outcome::kGivenUp: {
        MetricCounts& counts = counts_[definition];
        counts.switched_off = ++counts.given_up >= kMaxGivenUp;
        return false;
      }
      case Regex::Outcome::kFound: break;
    }
    if (!is_taken(match_.whole)) return true;
    from = match_.whole.begin + 1;
  }
}

bool MetricReader::is_taken(Regex::Span span) const {
  return std::any_of(taken_.begin(), taken_.end(),
                     [span](Regex::Span taken) { return span.begin < taken.end && taken.begin < span.end; });
}

void MetricReader::take_value(std::size_t definition, std::string_view record) {
  const MetricDefinition& wanted = set_.definitions[definition];
  const std::optional<std::size_t> step_group = patterns_[definition].step_group;
  if (set_.strict) taken_.push_back(match_.whole);
  const std::string_view text = value_span(match_, step_group).in(record);
  const std::optional<double> value = parse_metric_value(text, {wanted.percent, wanted.thousands});
  MetricCounts& counts = counts_[definition];
  if (value) {
    ++counts.values;
    values_.push_back({definition, *value, step_in(match_, record, step_group), match_.whole});
  } else if (++counts.parse_errors == 1) {
    counts.first_unreadable = text.substr(0, kMaxUnreadableBytes);
  }
}

}  // namespace trainwarden::log_metrics
