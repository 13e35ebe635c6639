// Allocation: what an attempt of a job may use of its machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/format/json.h"
#include "trainwarden/status.h"

namespace trainwarden::jobs {

struct Allocation {
  std::optional<std::vector<int>> cpus;  // numbers of processors; nothing: all
  std::optional<std::vector<int>> gpus;  // the same
  std::uint64_t memory_bytes = 0;        // 0: not counted
  std::string control_group;             // set aside for jobs (control_group.h); empty: none is
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

std::string encode_allocation(const Allocation& allocation);  // one line of JSON
// A list of numbers of processors or GPUs; kDataLoss when it is none.
Result<std::vector<int>> numbers_of_devices(const format::Json& list, std::string_view what);
// kDataLoss when it is none; `what` names the text in the message.
Result<Allocation> decode_allocation(std::string_view text, std::string_view what);

}  // namespace trainwarden::jobs
