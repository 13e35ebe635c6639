// OperatorSummary: what the operators took that were recorded in a run's windows, over all workers, read on while there
// are more.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "read/profile/operator_table.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"
#include "ui/views/profile/profile_report.h"

namespace trainwarden::views {

inline constexpr std::size_t kMostOperatorRows = 200;   // of a summary
inline constexpr std::size_t kMostMemoryPoints = 1000;  // of a device
inline constexpr std::size_t kMostMemoryLines = 256;    // of devices of workers

// Is the call one of Python that was sampled? Their kind is newer than those of operators.
bool is_stack(OperatorKind kind);

// One thread at a time.
class OperatorSummary {
 public:
  // Reads steps that were not read yet, one at least, until `patience` is over.
  Status refresh(Trial& trial, std::chrono::nanoseconds patience);

  // None when there are none.
  std::optional<ProfiledOperators> operators() const { return summary_of(operators_); }
  std::optional<ProfiledOperators> stacks() const { return summary_of(stacks_); }
  std::vector<ProfiledMemory> memory() const;  // of devices, by changes that the operators made
  // By worker, the global steps that were recorded.
  const std::map<std::string, std::set<std::int64_t>>& steps() const { return seen_; }

 private:
  struct Table {
    profile::OperatorTable table;
    std::int64_t first_step = 0;
    std::int64_t last_step = -1;
    std::uint64_t steps = 0;
  };
  void take(const std::string& worker, OperatorBatch batch);
  static void add(Table& table, const OperatorBatch& batch, const std::string& worker);
  void take_memory(const std::string& worker, const OperatorBatch& batch);
  std::optional<ProfiledOperators> summary_of(const Table& table) const;

  Table operators_;
  Table stacks_;
  std::map<std::string, std::set<std::int64_t>> seen_;
  std::map<std::pair<std::string, std::int32_t>, ProfiledMemory> memory_;
  std::uint64_t damaged_steps_ = 0;
  std::uint64_t left_steps_ = 0;
};

}  // namespace trainwarden::views
