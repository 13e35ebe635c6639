// How many lines of a training's output are searched for metrics in a second, on one core: by definitions as people
// write them, and by the styles of libraries. In processor time of the thread.
#include <fmt/format.h>

#include <ctime>
#include <string>
#include <vector>

#include "bench.h"
#include "work/log_metrics/extractor.h"
#include "work/log_metrics/metric_reader.h"
#include "work/log_metrics/record_splitter.h"

namespace trainwarden::bench {
namespace {

constexpr int kRounds = 15;
constexpr int kLines = 20'000;  // in a round

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// One line in four has a metric; the others are what programs print besides.
std::string log_of_a_training() {
  std::string log;
  for (int i = 0; i < kLines; i += 4) {
    log += fmt::format("INFO 2026-11-23 10:{:02}:{:02} loader: batch {} of shape [64, 3, 224, 224] took 12.3 ms\n",
                       i / 60 % 60, i % 60, i);
    log += fmt::format("{}/20000 - 9s - loss: 0.{:04} - accuracy: 0.85 - val_loss: 0.4070 - val_accuracy: 0.86\n", i,
                       i % 10'000);
    log += "DEBUG allocator: 1024 MiB reserved, 512 MiB in use, 3 segments, fragmentation 0.12\n";
    log += "WARNING: the dataset has no key \"label_weights\", every label counts the same\n";
  }
  return log;
}

// Those of Amazon's own example, four patterns.
log_metrics::DefinitionSet definitions() {
  log_metrics::DefinitionSet set;
  for (const char* name : {"loss", "accuracy", "val_loss", "val_accuracy"}) {
    set.definitions.push_back({.name = name, .regex = fmt::format(R"((?<!\w){}: ([0-9\.]+))", name), .place = {}});
  }
  return set;
}

// What `read` takes of the whole log in the median round, as lines a second.
Figure lines_per_second(std::string name, std::string limit, const std::function<void(std::string_view)>& read) {
  const std::string log = log_of_a_training();
  std::vector<double> rates;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = thread_seconds();
    log_metrics::RecordSplitter splitter;
    const auto sink = [&read](const log_metrics::LogRecord& record) { read(record.text); };
    splitter.append(log, sink);
    splitter.finish(sink);
    rates.push_back(kLines / (thread_seconds() - begin));
  }
  return {std::move(name), spread_of(rates), "lines/s", at_least(200'000), std::move(limit)};
}

Result<std::vector<Figure>> measure() {
  TRAINWARDEN_ASSIGN_OR_RETURN(log_metrics::MetricReader reader, log_metrics::MetricReader::create(definitions()));
  log_metrics::Extractor extractor;
  std::vector<Figure> figures;
  figures.push_back(lines_per_second("metrics.lines_per_s", "one search of PCRE2 for each definition and line",
                                     [&](std::string_view record) { keep(reader.read(record)); }));
  figures.push_back(lines_per_second("metrics.lines_per_s.libraries", "one search of PCRE2 for each style and line",
                                     [&](std::string_view record) { keep(extractor.read(record)); }));
  if (reader.counts()[0].values != kRounds * kLines / 4) {
    return Status(Code::kInternal, fmt::format("found {} values", reader.counts()[0].values));
  }
  return figures;
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"metrics.lines_per_s", measure}};
}

}  // namespace trainwarden::bench
