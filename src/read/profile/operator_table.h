// Operator table: what each operator took over some steps.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "read/profile/call_nesting.h"
#include "trainwarden/operator_calls.h"

namespace trainwarden::profile {

// Names that a table has rows for. The calls of others are counted in `unlisted_calls`.
inline constexpr std::size_t kMaxTableRows = std::size_t{1} << 16;
// Steps of tracks that are remembered for calls that go on over several steps.
inline constexpr std::size_t kMaxEarlierSteps = std::size_t{1} << 16;

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
  // Steps in their order. A call that began in an earlier step has what ran on its track in whole steps since then
  // around it; `worker` tells tracks of several workers apart.
  void add(const OperatorBatch& batch, std::string_view worker = {});

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

  // What ran on one track in one step, by the calls that no other one was around.
  struct EarlierStep {
    std::int64_t first_unix_ns = 0;
    std::int64_t last_unix_ns = 0;
    std::int64_t busy_ns = 0;
  };
  void remember(const OperatorBatch& batch, const std::vector<CallPlace>& places, std::string_view worker);
  std::int64_t ran_before(const OperatorCall& call, const OperatorBatch& batch, std::string_view worker) const;

  std::map<Key, OperatorRow> rows_;
  std::map<std::string, std::vector<EarlierStep>> earlier_;  // by worker and track, by rising time
  std::int64_t earlier_last_unix_ns_ = std::numeric_limits<std::int64_t>::min();
  std::size_t earlier_steps_ = 0;  // of all tracks
  std::int64_t wall_ns_ = 0;
  std::uint64_t batches_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t lost_calls_ = 0;
  std::uint64_t unlisted_calls_ = 0;
};

}  // namespace trainwarden::profile
