// What a program printed, read for metrics: by some patterns, and by the ways in which libraries print. The same bytes
// in pieces give the same records.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log.h"
#include "work/log_metrics/extractor.h"
#include "work/log_metrics/metric_reader.h"
#include "work/log_metrics/record_splitter.h"

using namespace trainwarden;

namespace {

std::vector<std::string> records_of(std::string_view bytes, std::size_t piece) {
  std::vector<std::string> records;
  const auto sink = [&records](const log_metrics::LogRecord& record) { records.emplace_back(record.text); };
  log_metrics::RecordSplitter splitter;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
    splitter.append(bytes.substr(0, piece), sink);
  splitter.finish(sink);
  return records;
}

log_metrics::MetricReader reader(bool strict) {
  log_metrics::DefinitionSet set;
  set.strict = strict;
  for (const char* regex : {"loss: ([0-9.]+)", "val_loss: (\\S*)", R"(step (?<step>\d+)|=(.))", "(a*)*b"}) {
    log_metrics::MetricDefinition definition;
    definition.name = regex;
    definition.regex = regex;
    definition.match = static_cast<log_metrics::MatchChoice>(set.definitions.size() % 3);
    definition.percent = definition.thousands = set.definitions.size() % 2 == 1;
    set.definitions.push_back(definition);
  }
  return *log_metrics::MetricReader::create(set);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  set_log_sink([](LogLevel, std::string_view) {});  // a pattern that is given up says so
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> records = records_of(bytes, size + 1);
  if (records_of(bytes, 3) != records) __builtin_trap();
  log_metrics::MetricReader plain = reader(false);
  log_metrics::MetricReader strict = reader(true);
  log_metrics::Extractor extractor;
  for (const std::string& record : records) {
    plain.read(record);
    strict.read(record);
    extractor.read(record);
  }
  return 0;
}
