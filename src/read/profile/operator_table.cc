#include "read/profile/operator_table.h"

#include <algorithm>

#include "read/profile/call_nesting.h"

namespace trainwarden::profile {
namespace {

constexpr std::size_t kKindsInTable = kOperatorKinds;

std::int64_t sort_key(const OperatorRow& row, OperatorOrder order) {
  switch (order) {
    case OperatorOrder::kSelf: return row.self_ns;
    case OperatorOrder::kTotal: return row.total_ns;
    case OperatorOrder::kCalls: return static_cast<std::int64_t>(row.calls);
  }
  return 0;
}

std::string place_of_track(std::string_view worker, const OperatorTrack& track) {
  std::string place(worker);
  return place.append("\n").append(std::to_string(track.id)).append("\n").append(track.name);
}

}  // namespace

OperatorRow* OperatorTable::row_of(const std::string& name, OperatorKind kind) {
  const Key key(name, kind);
  const auto known = rows_.find(key);
  if (known != rows_.end()) return &known->second;
  if (rows_.size() == kMaxTableRows) return nullptr;
  OperatorRow& row = rows_[key];
  row.name = name;
  row.kind = kind;
  return &row;
}

void OperatorTable::remember(const OperatorBatch& batch, const std::vector<CallPlace>& places,
                             std::string_view worker) {
  std::map<std::uint32_t, EarlierStep> of_track;
  for (std::size_t i = 0; i < batch.calls.size(); ++i) {
    if (places[i].depth > 0) continue;
    const OperatorCall& call = batch.calls[i];
    const auto [known, is_new] = of_track.try_emplace(call.track, EarlierStep{call.start_unix_ns, end_ns(call), 0});
    EarlierStep& step = known->second;
    step.first_unix_ns = std::min(step.first_unix_ns, call.start_unix_ns);
    step.last_unix_ns = std::max(step.last_unix_ns, end_ns(call));
    step.busy_ns += end_ns(call) - call.start_unix_ns;
  }
  for (auto& [track, step] : of_track) {
    if (earlier_steps_ == kMaxEarlierSteps) return;
    std::vector<EarlierStep>& known = earlier_[place_of_track(worker, batch.tracks[track])];
    // What went on over earlier steps stands for them from now on.
    while (!known.empty() && known.back().first_unix_ns >= step.first_unix_ns) {
      known.pop_back();
      --earlier_steps_;
    }
    step.busy_ns = std::min(step.busy_ns, step.last_unix_ns - step.first_unix_ns);
    known.push_back(step);
    ++earlier_steps_;
    earlier_last_unix_ns_ = std::max(earlier_last_unix_ns_, step.last_unix_ns);
  }
}

std::int64_t OperatorTable::ran_before(const OperatorCall& call, const OperatorBatch& batch,
                                       std::string_view worker) const {
  const auto known = earlier_.find(place_of_track(worker, batch.tracks[call.track]));
  if (known == earlier_.end()) return 0;
  std::int64_t busy_ns = 0;
  for (auto step = known->second.rbegin(); step != known->second.rend(); ++step) {
    if (step->first_unix_ns < call.start_unix_ns) break;
    if (step->last_unix_ns <= end_ns(call)) busy_ns += step->busy_ns;
  }
  return busy_ns;
}

void OperatorTable::add(const OperatorBatch& batch, std::string_view worker) {
  const std::vector<CallPlace> places = nest_calls(batch);
  std::vector<OperatorRow*> row_of_label(batch.names.size() * kKindsInTable);
  for (std::size_t i = 0; i < batch.calls.size(); ++i) {
    const OperatorCall& call = batch.calls[i];
    OperatorRow*& row = row_of_label[call.name * kKindsInTable + static_cast<std::size_t>(call.kind)];
    if (row == nullptr) row = row_of(batch.names[call.name], call.kind);
    if (row == nullptr) {
      ++unlisted_calls_;
      continue;
    }
    const std::int64_t duration_ns = end_ns(call) - call.start_unix_ns;
    ++row->calls;
    if (!places[i].within_own) row->total_ns += duration_ns;
    std::int64_t self_ns = places[i].self_ns;
    const bool may_go_on = places[i].depth == 0 && call.start_unix_ns < earlier_last_unix_ns_;
    if (may_go_on) self_ns = std::max<std::int64_t>(0, self_ns - ran_before(call, batch, worker));
    row->self_ns += self_ns;
    row->longest_ns = std::max(row->longest_ns, duration_ns);
  }
  remember(batch, places, worker);
  wall_ns_ += span_of(batch).duration_ns();
  ++batches_;
  calls_ += batch.calls.size();
  lost_calls_ += batch.lost_calls;
}

std::vector<OperatorRow> OperatorTable::rows(OperatorOrder order) const {
  std::vector<OperatorRow> rows;
  for (const auto& [key, row] : rows_) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [order](const OperatorRow& a, const OperatorRow& b) {
    return sort_key(a, order) > sort_key(b, order);
  });
  return rows;
}

}  // namespace trainwarden::profile
