#include "store/journal/samples_draft.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "data/format/records.h"

namespace trainwarden::journal {
namespace {

using format::FrameKind;

void add_frame(AppendDraft& draft, FrameKind kind, std::string head) {
  draft.frames.emplace_back();
  draft.frames.back().kind = kind;
  draft.frames.back().head = std::move(head);
}

void add_metrics(const SampleBatch& batch, const MetricsById& metrics, const std::unordered_set<std::uint32_t>& named,
                 AppendDraft& draft) {
  std::unordered_set<std::uint32_t> named_here;
  std::vector<MetricEntry> entries;
  const auto add_entry = [&](std::uint32_t id) {
    if (named_here.insert(id).second) entries.push_back({id, metrics.at(id)});
  };
  // What the batch itself names is always written: a metric may have another unit by now.
  for (const MetricEntry& entry : batch.new_metrics) add_entry(entry.id);
  for (const SampleTable& table : batch.tables) {
    for (const SampleSeries& series : table.series) {
      if (!named.contains(series.metric)) add_entry(series.metric);
    }
  }
  if (entries.empty()) return;
  add_frame(draft, FrameKind::kNames, format::encode_names({}, entries));
  draft.named_metrics.assign(named_here.begin(), named_here.end());
}

void add_table(const SampleTable& table, AppendDraft& draft) {
  const auto [lowest, highest] =
      std::minmax_element(table.series.begin(), table.series.end(),
                          [](const SampleSeries& a, const SampleSeries& b) { return a.metric < b.metric; });
  draft.samples.push_back({static_cast<std::uint32_t>(draft.frames.size()), table.ticks.front(), table.ticks.back(),
                           lowest->metric, highest->metric});
  add_frame(draft, FrameKind::kSamples, format::encode_samples(table));
}

}  // namespace

Status check_batch(const SampleBatch& batch, const MetricsById& metrics) {
  for (const SampleTable& table : batch.tables) {
    TRAINWARDEN_RETURN_IF_ERROR(format::check_samples(table));
    for (const SampleSeries& series : table.series) {
      if (metrics.contains(series.metric)) continue;
      return Status(Code::kInvalidArgument,
                    fmt::format("samples of metric id {}, which was never given a name", series.metric));
    }
  }
  return Status();
}

AppendDraft draft_samples(const SampleBatch& batch, const MetricsById& metrics,
                          const std::unordered_set<std::uint32_t>& named) {
  AppendDraft draft;
  add_metrics(batch, metrics, named, draft);
  for (const SampleTable& table : batch.tables) add_table(table, draft);
  return draft;
}

}  // namespace trainwarden::journal
