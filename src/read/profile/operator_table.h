// Operator table: what each operator took over some steps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trainwarden/operator_calls.h"

namespace trainwarden::profile {

// Names that a table has rows for. The calls of others are counted in `unlisted_calls`.
inline constexpr std::size_t kMaxTableRows = std::size_t{1} << 16;

// One name of one kind.
struct OperatorRow {
  std::string name;  // any bytes
  OperatorKind kind = OperatorKind::kOperator;
  std::uint64_t calls = 0;
  std::int64_t total_ns = 0;  // with all that was called from it; a call within its own like counts once
  std::int64_t self_ns = 0;   // without
  std::int64_t longest_ns = 0;

  double mean_ns() const { return calls == 0 ? 0 : static_cast<double>(total_ns) / static_cast<double>(calls); }
  friend bool operator==(const OperatorRow&, const OperatorRow&) = default;
};

enum class OperatorOrder : std::uint8_t { kSelf, kTotal, kCalls };

class OperatorTable {
 public:
  void add(const OperatorBatch& batch);

  // The largest first, equal ones by name.
  std::vector<OperatorRow> rows(OperatorOrder order) const;
  // Of all steps together, each from its first call to the end of its last.
  std::int64_t wall_ns() const { return wall_ns_; }
  // An operator's own time as a share of that. Threads and streams work side by side: all shares may exceed 1.
  double share(const OperatorRow& row) const {
    return wall_ns_ == 0 ? 0 : static_cast<double>(row.self_ns) / static_cast<double>(wall_ns_);
  }
  std::uint64_t batches() const { return batches_; }
  std::uint64_t calls() const { return calls_; }
  std::uint64_t lost_calls() const { return lost_calls_; }
  std::uint64_t unlisted_calls() const { return unlisted_calls_; }

 private:
  using Key = std::pair<std::string, OperatorKind>;
  OperatorRow* row_of(const std::string& name, OperatorKind kind);

  std::map<Key, OperatorRow> rows_;
  std::int64_t wall_ns_ = 0;
  std::uint64_t batches_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t lost_calls_ = 0;
  std::uint64_t unlisted_calls_ = 0;
};

}  // namespace trainwarden::profile
