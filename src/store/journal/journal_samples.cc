#include "store/journal/journal_samples.h"

#include <algorithm>
#include <set>
#include <utility>

namespace trainwarden::journal {

using State = SampleFrame::State;

// What is damaged was counted by whoever read it.
Status JournalSamples::look_at(SampleFrame& frame) {
  const auto table = frames_.samples(use_(frame.segment), frame.offset);
  if (!table.ok()) {
    if (!is_damage(table.status())) return table.status();
    frame.state = State::kUnreadable;
    return Status();
  }
  frame.first_unix_ns = (*table)->first_unix_ns();
  frame.last_unix_ns = (*table)->last_unix_ns();
  frame.lowest_metric = frame.highest_metric = (*table)->metric(0);
  for (std::size_t i = 1; i < (*table)->series_count(); ++i) {
    frame.lowest_metric = std::min(frame.lowest_metric, (*table)->metric(i));
    frame.highest_metric = std::max(frame.highest_metric, (*table)->metric(i));
  }
  frame.state = State::kKnown;
  return Status();
}

Status JournalSamples::look_at_new_frames() {
  for (; seen_frames_ < contents_.sample_frames.size(); ++seen_frames_) {
    SampleFrame& frame = contents_.sample_frames[seen_frames_];
    if (frame.state == State::kUnread) TRAINWARDEN_RETURN_IF_ERROR(look_at(frame));
    if (frame.state != State::kKnown) continue;
    if (!times_) times_ = SampleTimes{frame.first_unix_ns, frame.last_unix_ns};
    times_->first_unix_ns = std::min(times_->first_unix_ns, frame.first_unix_ns);
    times_->last_unix_ns = std::max(times_->last_unix_ns, frame.last_unix_ns);
  }
  return Status();
}

Result<std::optional<SampleTimes>> JournalSamples::times(std::int64_t from_unix_ns) {
  TRAINWARDEN_RETURN_IF_ERROR(look_at_new_frames());
  if (!times_ || from_unix_ns <= times_->first_unix_ns) return times_;
  if (from_unix_ns > times_->last_unix_ns) return std::optional<SampleTimes>();
  SampleTimes times{times_->last_unix_ns, times_->last_unix_ns};
  for (const SampleFrame& frame : contents_.sample_frames) {
    if (frame.state != State::kKnown || frame.last_unix_ns < from_unix_ns) continue;
    times.first_unix_ns = std::min(times.first_unix_ns, std::max(frame.first_unix_ns, from_unix_ns));
  }
  return std::optional(times);
}

std::vector<const SampleFrame*> JournalSamples::frames_for(const SampleQuery& query) {
  wanted_.assign(contents_.metrics.size(), false);
  for (const std::uint32_t metric : query.metrics) {
    if (metric < wanted_.size()) wanted_[metric] = true;
  }
  std::vector<const SampleFrame*> found;
  std::optional<std::uint32_t> segment;
  std::set<std::uint32_t> ids;  // what that segment calls the metrics that are wanted
  for (std::size_t i = query.first_frame; i < contents_.sample_frames.size(); ++i) {
    const SampleFrame& frame = contents_.sample_frames[i];
    const bool in_range = frame.first_unix_ns < query.to_unix_ns && frame.last_unix_ns >= query.from_unix_ns;
    if (frame.state != State::kKnown || !in_range) continue;
    if (segment != frame.segment) {
      segment = frame.segment;
      ids.clear();
      for (const auto& [id, metric] : use_(frame.segment).intake.metrics_by_id()) {
        if (wanted_[metric]) ids.insert(id);
      }
    }
    const auto id = ids.lower_bound(frame.lowest_metric);
    if (id != ids.end() && *id <= frame.highest_metric) found.push_back(&frame);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const SampleFrame* a, const SampleFrame* b) { return a->first_unix_ns < b->first_unix_ns; });
  return found;
}

Status JournalSamples::visit_frame(const SampleFrame& frame, const SampleQuery& query, const SampleVisitor& visit) {
  JournalSegment& segment = use_(frame.segment);
  const auto table = frames_.samples(segment, frame.offset);
  if (!table.ok()) return is_damage(table.status()) ? Status() : table.status();
  for (std::size_t i = 0; i < (*table)->series_count(); ++i) {
    const std::optional<std::uint32_t> metric = segment.intake.metric_of((*table)->metric(i));
    if (!metric) {
      segment.intake.add_damage(frame.offset, kNamelessSamples, 1, 0);
      continue;
    }
    if (!wanted_[*metric]) continue;
    samples_.clear();
    (*table)->read(i, query.from_unix_ns, query.to_unix_ns, samples_);
    if (!samples_.empty()) visit({*metric, samples_});
  }
  return Status();
}

Status JournalSamples::visit(const SampleQuery& query, const SampleVisitor& visit) {
  TRAINWARDEN_RETURN_IF_ERROR(look_at_new_frames());
  for (const SampleFrame* frame : frames_for(query)) {
    TRAINWARDEN_RETURN_IF_ERROR(visit_frame(*frame, query, visit));
  }
  return Status();
}

}  // namespace trainwarden::journal
