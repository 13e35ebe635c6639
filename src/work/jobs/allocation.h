// Allocation: what an attempt of a job may use of its machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::jobs {

struct Allocation {
  std::optional<std::vector<int>> cpus;  // numbers of processors; nothing: all
  std::optional<std::vector<int>> gpus;  // the same
  std::uint64_t memory_bytes = 0;        // 0: not counted
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

std::string encode_allocation(const Allocation& allocation);  // one line of JSON
// kDataLoss when it is none; `what` names the text in the message.
Result<Allocation> decode_allocation(std::string_view text, std::string_view what);

}  // namespace trainwarden::jobs
