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

void OperatorTable::add(const OperatorBatch& batch) {
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
    row->self_ns += places[i].self_ns;
    row->longest_ns = std::max(row->longest_ns, duration_ns);
  }
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
