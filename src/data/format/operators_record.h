// Operators record: the operator calls of one worker and step, or a part of them, as columns.
//
// Times are stored as differences, and every column of numbers in the narrowest type that suits most of them; about
// 8 to 12 bytes a call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "trainwarden/operator_calls.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

// Calls in one frame, at most, and changes of memory in one. What is more is spread over several.
inline constexpr std::size_t kMaxCallsInFrame = std::size_t{1} << 18;
// All names and tracks of a frame together.
inline constexpr std::size_t kMaxOperatorTextBytes = std::size_t{1} << 24;

// What a frame says of the batch that it is a part of.
struct OperatorPart {
  std::uint32_t part = 0;         // which of the batch's frames, from 0
  std::uint64_t batch_calls = 0;  // of all its frames
  OperatorBatch batch;            // what is in this one. Step and mode are those of the frame's header
};

// kInvalidArgument when the batch is not what it must be: calls or memory out of their order, a name or a track that is
// not there, times that do not fit, more than a batch may hold.
Status check_operators(const OperatorBatch& batch);

// The payloads of the frames that hold the batch, which was checked. None when there is nothing to say.
std::vector<std::string> encode_operators(const OperatorBatch& batch);

// Checks everything. kDataLoss.
Result<OperatorPart> decode_operators(ByteSpan payload);

}  // namespace trainwarden::format
