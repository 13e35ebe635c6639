#include "work/log_metrics/metric_finder.h"

namespace trainwarden::log_metrics {

Result<MetricFinder> MetricFinder::create(std::optional<DefinitionSet> definitions) {
  std::optional<MetricReader> reader;
  if (definitions) {
    TRAINWARDEN_ASSIGN_OR_RETURN(reader, MetricReader::create(*std::move(definitions)));
  }
  return MetricFinder(std::move(reader));
}

const std::vector<FoundValue>& MetricFinder::read(std::string_view record) {
  found_.clear();
  if (reader_) {
    for (const MetricValue& value : reader_->read(record)) {
      found_.push_back(
          {reader_->definitions().definitions[value.definition].name, value.value, value.step, "definition"});
    }
    return found_;
  }
  std::optional<Extraction> extraction = extractor_.read(record);
  if (!extraction) return found_;
  for (Extracted& one : extraction->values) {
    found_.push_back({std::move(one.name), one.value, extraction->step, name(extraction->style)});
  }
  return found_;
}

}  // namespace trainwarden::log_metrics
