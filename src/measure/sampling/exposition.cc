#include "measure/sampling/exposition.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "measure/machine/metric_table.h"

namespace trainwarden::sampling {
namespace {

using machine::MetricDescription;

// What a sampler says of itself (tick_loop.cc).
constexpr MetricDescription kOwnRows[] = {
    {"sampler.lateness", "seconds", MetricKind::kGauge, MetricSource::kProcess, "",
     "the last tick came after its time"},
    {"sampler.cpu", "seconds", MetricKind::kCounter, MetricSource::kProcess, "", "processor time of its ticks"},
    {"sampler.missed_ticks", "", MetricKind::kCounter, MetricSource::kProcess, "", "ticks that were left out"},
    {"sampler.clock_jumps", "", MetricKind::kCounter, MetricSource::kProcess, "", "the wall clock was set"},
    {"sampler.lost_samples", "", MetricKind::kCounter, MetricSource::kProcess, "", "samples that could not be kept"},
};

using Labels = std::vector<std::pair<std::string_view, std::string>>;

struct FoundRow {
  const MetricDescription* row;
  std::size_t order;  // of families
  std::string part;   // what stands for the "*"
};

bool is_row(const MetricDescription& row, std::string_view name, std::string& part) {
  const std::size_t star = row.name.find('*');
  if (star == std::string_view::npos) return name == row.name;
  const std::string_view head = row.name.substr(0, star), tail = row.name.substr(star + 1);
  if (name.size() <= head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) return false;
  part = name.substr(head.size(), name.size() - head.size() - tail.size());
  return true;
}

// Names without a part first: "cpu.busy" is no processor.
std::optional<FoundRow> row_of(std::string_view name) {
  std::optional<FoundRow> found;
  std::size_t order = 0;
  for (const auto rows : {machine::metric_table(), std::span<const MetricDescription>(kOwnRows)}) {
    for (const MetricDescription& row : rows) {
      std::string part;
      if (is_row(row, name, part) && (!found || part.empty())) found = FoundRow{&row, order, part};
      ++order;
    }
  }
  return found;
}

// "cpu.*.busy" → "cpu_busy"
std::string joined(std::string_view name) {
  std::string all;
  for (const std::string& word : split_list(name, '.')) {
    if (word != "*") all += (all.empty() ? "" : "_") + word;
  }
  return all;
}

// Without "_total".
std::string family_of(const MetricDescription& row) {
  std::string name = joined(row.name);
  const auto table = machine::metric_table();
  const bool taken = row.name.find('*') == std::string_view::npos &&
                     std::any_of(table.begin(), table.end(), [&](const MetricDescription& other) {
                       return other.name.find('*') != std::string_view::npos && joined(other.name) == name;
                     });
  if (taken) name = "all_" + name;
  if (!row.unit.empty()) name += fmt::format("_{}", row.unit);
  if (row.kind == MetricKind::kRatio) name += "_ratio";
  return "trainwarden_" + name;
}

std::string_view label_of_part(const MetricDescription& row) {
  if (row.name.starts_with("cpu.")) return "cpu";
  if (row.name.starts_with("rdma.")) return "port";
  return "device";
}

// Instances are as the probes make them: "17 python3", "GPU-0", of the sampler its name.
void add_instance(const MetricDescription& row, const std::string& instance, Labels& labels) {
  if (row.name.starts_with("process.")) {
    const std::size_t blank = std::min(instance.find(' '), instance.size());
    labels.emplace_back("pid", instance.substr(0, blank));
    labels.emplace_back("name", instance.substr(std::min(blank + 1, instance.size())));
  } else if (row.name.starts_with("gpu.")) {
    constexpr std::string_view kStart = "GPU-";
    labels.emplace_back("gpu", instance.starts_with(kStart) ? instance.substr(kStart.size()) : instance);
  } else if (row.name.starts_with("sampler.")) {
    labels.emplace_back("sampler", instance);
  }
}

std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : with_valid_utf8(text)) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

std::string text_of(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, escaped(value, true));
  }
  return text;
}

struct Family {
  const MetricDescription* row = nullptr;
  std::map<std::string, double> samples;  // by the text of their labels, each once
};

std::map<std::size_t, Family> families_of(std::span<const NewestSample> samples, const std::string& host) {
  std::map<std::size_t, Family> families;
  for (const NewestSample& sample : samples) {
    const auto found = row_of(sample.metric.name);
    if (!found) continue;
    Labels labels{{"host", host}};
    if (!found->part.empty()) labels.emplace_back(label_of_part(*found->row), found->part);
    add_instance(*found->row, sample.metric.instance, labels);
    Family& family = families[found->order];
    family.row = found->row;
    family.samples[text_of(labels)] = sample.value;
  }
  return families;
}

}  // namespace

std::string_view content_type_of(ExpositionFormat format) {
  if (format == ExpositionFormat::kOpenMetrics) return "application/openmetrics-text; version=1.0.0; charset=utf-8";
  return "text/plain; version=0.0.4; charset=utf-8";
}

std::string exposition(std::span<const NewestSample> samples, const std::string& host, ExpositionFormat format) {
  std::string text;
  for (const auto& [order, family] : families_of(samples, host)) {
    const bool counter = family.row->kind == MetricKind::kCounter;
    const std::string name = family_of(*family.row);
    const std::string sampled = name + (counter ? "_total" : "");
    const std::string& described = format == ExpositionFormat::kOpenMetrics ? name : sampled;
    const std::string help = escaped(family.row->means, format == ExpositionFormat::kOpenMetrics);
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", described, help, described, counter ? "counter" : "gauge");
    for (const auto& [labels, value] : family.samples) text += fmt::format("{}{{{}}} {}\n", sampled, labels, value);
  }
  if (format == ExpositionFormat::kOpenMetrics) text += "# EOF\n";
  return text;
}

}  // namespace trainwarden::sampling
