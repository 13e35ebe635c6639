// A million operator calls, for the benchmarks of what is made of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "data/format/operators_record.h"
#include "trainwarden/operator_calls.h"

namespace trainwarden::bench {

inline constexpr std::size_t kCalls = 1'000'000;

// About as a training on two threads and a stream has them: three of four calls lie within another.
inline OperatorBatch million_calls() {
  OperatorBatch batch;
  for (int name = 0; name < 80; ++name) batch.names.push_back(fmt::format("aten::operator_{}", name));
  batch.tracks = {{"thread 1", 1, false}, {"thread 2", 2, false}, {"GPU-0 stream 7", 7, true}};
  std::uint64_t state = 1;
  const auto random = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state >> 33) % below);
  };
  batch.calls.reserve(kCalls);
  for (std::uint32_t track = 0; track < 3; ++track) {
    std::int64_t at = 1'700'000'000'000'000'000;
    while (batch.calls.size() < kCalls * (track + 1) / 3) {
      at += random(5'000) + 1'000;
      const std::int64_t whole = 8'000 + random(60'000);
      for (std::int64_t depth = 0; depth < 4 && batch.calls.size() < kCalls; ++depth) {
        OperatorCall call;
        call.name = static_cast<std::uint32_t>(random(20) + 20 * depth);
        call.track = track;
        call.kind = track == 2 ? OperatorKind::kKernel : OperatorKind::kOperator;
        call.start_unix_ns = at + depth * 700;
        call.duration_ns = whole - depth * 1'500;
        if (depth > 0 && track < 2) call.sequence = 5'000'000 + static_cast<std::int64_t>(batch.calls.size() / 4);
        batch.calls.push_back(call);
      }
      at += whole;
    }
  }
  return batch;
}

}  // namespace trainwarden::bench
