// Call nesting: which operator call lies within which, by the times on their tracks.
#pragma once

#include <cstdint>
#include <vector>

#include "trainwarden/operator_calls.h"

namespace trainwarden::profile {

// Of one call. A call lies within another of its track when it begins and ends inside. Calls that overlap in part, as
// asynchronous ones do, lie beside each other.
struct CallPlace {
  std::int64_t parent = -1;  // index of the innermost call around it; -1: none
  std::uint32_t depth = 0;   // calls around it
  bool within_own = false;   // one of them has its name and kind
  std::int64_t self_ns = 0;  // when no call directly within it ran
};

// When it ends. One that ends before it starts takes no time.
inline std::int64_t end_ns(const OperatorCall& call) {
  return call.start_unix_ns + (call.duration_ns > 0 ? call.duration_ns : 0);
}

// Indices of the calls by track, then by start, longer first.
std::vector<std::size_t> calls_in_order(const OperatorBatch& batch);

// The place of each of batch.calls.
std::vector<CallPlace> nest_calls(const OperatorBatch& batch);

// From the first start to the last end on any track.
struct CallSpan {
  std::int64_t first_unix_ns = 0;
  std::int64_t last_unix_ns = 0;
  std::int64_t duration_ns() const { return last_unix_ns - first_unix_ns; }
};
CallSpan span_of(const OperatorBatch& batch);

}  // namespace trainwarden::profile
