// Figures of the report: what the server takes for a step of a million operator calls, and for an hour of a training.
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench.h"
#include "million_calls.h"
#include "read/trial/run_testing.h"
#include "temporary_folder.h"
#include "ui/answers/one_file_page.h"
#include "ui/answers/open_answers.h"
#include "ui/answers/profile_document.h"

namespace trainwarden::bench {
namespace {

constexpr int kOpenings = 5;
constexpr std::int64_t kTickNs = 100'000'000;
constexpr std::size_t kTicks = 36'000;  // an hour
constexpr std::size_t kTicksOfTable = 6'000;
constexpr std::int64_t kSteps = 18'000;  // five a second
constexpr double kMiB = 1024.0 * 1024.0;

void must_hold(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

// With a trial and answers of their own each time, as when a page is opened.
Result<std::vector<Figure>> measure_open() {
  TestRun run;
  run.add_steps(0, 3);
  OperatorBatch batch = million_calls();
  batch.global_step = 2;
  run.operators(batch);
  run.end();
  const TemporaryFolder folder;
  run.save_to(folder.path() / "run");
  std::vector<double> samples_ms;
  std::size_t bytes = 0;
  for (int i = 0; i < kOpenings; ++i) {
    samples_ms.push_back(elapsed_ns([&] {
                           const auto answers = answers::open_answers(folder.path() / "run");
                           must_hold(answers.status());
                           const auto answer =
                               (*answers)->ask("/runs/" + (*answers)->run_id() + "/profile/calls?step=2");
                           must_hold(answer.status());
                           bytes = answer->body->size();
                         }) /
                         1e6);
  }
  return std::vector<Figure>{
      {"profiler.open.server_1m_ms", spread_of(std::move(samples_ms)), "ms", at_most(600),
       fmt::format("reading, nesting and {:.0f} MB of columns", static_cast<double>(bytes) / 1e6)}};
}

Metric host(const std::string& name, MetricKind kind) {
  return {name, "", kind, MetricSource::kHost, "node7"};
}

// A machine of eight processors, sampled every 100 ms; what changes slowly at each fifth tick, as the sampler does.
void sample_hour(TestRun& run) {
  std::vector<std::pair<Metric, std::vector<double>>> series;
  const auto add = [&](const std::string& name, MetricKind kind, double step, double noise) {
    std::vector<double> values(kTicks);
    double at = kind == MetricKind::kCounter ? 0 : step;
    for (std::size_t i = 0; i < kTicks; ++i) {
      const double wave = noise * (1 + std::sin(static_cast<double>(i) / 97 + static_cast<double>(series.size())));
      at = kind == MetricKind::kCounter ? at + step + wave : step + wave;
      values[i] = at;
    }
    series.emplace_back(host(name, kind), std::move(values));
  };
  add("cpu.busy", MetricKind::kCounter, 0.2, 0.2);
  add("cpu.online", MetricKind::kGauge, 8, 0);
  for (int core = 0; core < 8; ++core) add(fmt::format("cpu.{}.busy", core), MetricKind::kCounter, 0.02, 0.03);
  add("cpu.iowait", MetricKind::kCounter, 0.01, 0.01);
  add("memory.used", MetricKind::kGauge, 8e9, 1e9);
  add("memory.total", MetricKind::kGauge, 64e9, 0);
  add("tree.cpu.user", MetricKind::kCounter, 0.2, 0.1);
  add("tree.cpu.system", MetricKind::kCounter, 0.02, 0.01);
  add("tree.memory.rss", MetricKind::kGauge, 4e9, 1e9);
  add("pressure.cpu.some", MetricKind::kCounter, 0.01, 0.01);
  add("pressure.io.some", MetricKind::kCounter, 0.01, 0.01);
  add("disk.sda.read", MetricKind::kCounter, 1e6, 1e6);
  add("disk.sda.written", MetricKind::kCounter, 1e6, 1e6);
  add("net.eth0.received", MetricKind::kCounter, 1e5, 1e5);
  add("sampler.cpu", MetricKind::kCounter, 1e-4, 0);
  // A table holds 262,144 samples.
  for (std::size_t from = 0; from < kTicks; from += kTicksOfTable) {
    auto part = series;
    for (auto& [metric, values] : part) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(from);
      values = std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(std::min(kTicksOfTable, kTicks - from)));
    }
    run.sample_together(part, kTickNs);
  }
}

void train_hour(TestRun& run) {
  for (std::int64_t step = 0; step < kSteps; ++step) {
    run.clock().advance_ns(3600'000'000'000 / kSteps);
    const bool saves = step % 1000 == 999;
    const auto noise = static_cast<float>(step % 7) * 0.001F;
    run.add({.step = step,
             .tensors = {scalar("phase/step", 0.2F + noise + (saves ? 2.0F : 0.0F)),
                         scalar("phase/data_wait", 0.05F + noise), scalar("phase/forward", 0.05F),
                         scalar("phase/backward", 0.08F), scalar("phase/optimizer", 0.015F),
                         scalar("phase/checkpoint", saves ? 2.0F : 0.0F), scalar("phase/rest", 0.005F)},
             .mode = Mode::kTrain});
  }
}

Result<std::vector<Figure>> measure_hour() {
  TestRun run;
  const std::int64_t began_ns = run.clock().unix_ns();
  sample_hour(run);
  run.clock().advance_ns(began_ns - run.clock().unix_ns());  // the steps were at the same time
  train_hour(run);
  run.end();
  const TemporaryFolder folder;
  run.save_to(folder.path() / "run");
  std::vector<double> samples_ms;
  double document_bytes = 0;
  for (int i = 0; i < 3; ++i) {
    samples_ms.push_back(elapsed_ns([&] {
                           const auto document = answers::profile_document(folder.path() / "run");
                           must_hold(document.status());
                           document_bytes = static_cast<double>(document->size());
                         }) /
                         1e6);
  }
  std::vector<Figure> figures{
      {"report.hour.document_ms", spread_of(std::move(samples_ms)), "ms", at_most(10'000),
       "samples, steps and rules of an hour, read for the first time"},
      {"report.hour.document_mib", spread_of({document_bytes / kMiB}), "MiB", at_most(2), "the timeline's numbers"}};
  const auto page = answers::one_file_page(folder.path() / "run", {.contents = answers::Contents::kProfile});
  if (page.ok()) {
    figures.push_back({"report.hour.page_mib", spread_of({static_cast<double>(page->html.size()) / kMiB}), "MiB",
                       at_most(2), "the page's script, and the document compressed"});
  } else if (page.status().code() != Code::kFailedPrecondition) {  // built without its page
    return page.status();
  }
  return figures;
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"profiler.open", measure_open}, {"report.hour", measure_hour}};
}

}  // namespace trainwarden::bench
