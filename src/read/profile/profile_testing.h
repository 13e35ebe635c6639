// Handmade batches of operator calls, for the tests of this floor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainwarden/operator_calls.h"

namespace trainwarden::profile {

struct TestCall {
  std::string name;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint32_t track = 0;
  OperatorKind kind = OperatorKind::kOperator;
};

inline OperatorBatch batch_of(const std::vector<TestCall>& calls) {
  OperatorBatch batch;
  batch.tracks = {{"main", 1, false}, {"stream", 2, true}};
  for (const TestCall& call : calls) {
    std::uint32_t name = 0;
    while (name < batch.names.size() && batch.names[name] != call.name) ++name;
    if (name == batch.names.size()) batch.names.push_back(call.name);
    batch.calls.push_back({name, call.track, call.kind, call.start, call.end - call.start, -1});
  }
  return batch;
}

}  // namespace trainwarden::profile
