// TensorProto: a tensor within an Event. Source: TensorFlow's tensor.proto, tensor_shape.proto, types.proto.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/bytes.h"
#include "data/foreign/tf_event.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_value.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::foreign {

// What values of a tensor that has fewer of them than elements may be repeated to.
inline constexpr std::uint64_t kMaxRepeatedBytes = 64 << 20;

// The message is `head`, then `content`: the elements where they lie.
struct TensorMessage {
  std::string head;
  ByteSpan content;
};

// With a tag as smdebug writes it: dimensions named "<tag>_<size>", strings without a dtype.
TensorMessage encode_tensor(const TensorView& tensor, std::optional<std::string_view> smdebug_tag);

Result<TensorValue> decode_tensor(ByteSpan message);
Result<std::pair<DType, Shape>> decode_tensor_shape(ByteSpan message);

}  // namespace trainwarden::foreign
