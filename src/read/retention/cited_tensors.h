// Which tensors the verdicts of a run speak of: they stay whole, as its evidence.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "store/journal/run_folder.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::retention {

struct CitedTensors {
  std::set<std::int64_t> whole_steps;                       // of verdicts that name no tensor
  std::map<std::int64_t, std::set<std::string>> by_step{};  // names of tensors

  bool has(std::int64_t step, const std::string& tensor) const;
};

// Of all verdicts that fired, in all journals of those that judge. An error when one of them cannot be read.
Result<CitedTensors> cited_tensors(const storage::Storage& run, const journal::RunInfo& info);

}  // namespace trainwarden::retention
