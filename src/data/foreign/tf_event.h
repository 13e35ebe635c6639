// Event: the protobuf message in each record of an event file, as far as summaries need it.
//
// Written and read by hand: libprotobuf may not be loaded into a training process beside the one that its framework
// brings along (docs/adr). Fields that are not listed here are skipped. Source: TensorFlow's event.proto,
// summary.proto, tensor.proto, types.proto.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "trainwarden/dtype.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_value.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::foreign {

// TensorFlow's number for a dtype, and back. All of ours have one (float8 those of newer TensorFlow, 24 and 25);
// quantised types, resources and variants have no counterpart here.
std::int32_t tf_dtype(DType dtype);
std::optional<DType> dtype_of_tf(std::int32_t tf_dtype);

// HistogramProto: bucket i counts values in (limit[i - 1], limit[i]].
struct TfHistogram {
  double min = 0;
  double max = 0;
  double num = 0;
  double sum = 0;
  double sum_squares = 0;
  std::vector<double> bucket_limit;
  std::vector<double> bucket;
  friend bool operator==(const TfHistogram&, const TfHistogram&) = default;
};

// Summary.Image.
struct TfImage {
  std::int32_t height = 0;
  std::int32_t width = 0;
  std::int32_t channels = 0;  // 1: grey, 3: RGB, 4: RGBA
  std::string png;
  friend bool operator==(const TfImage&, const TfImage&) = default;
};

// SummaryMetadata.PluginData. smdebug keeps two: "mode_step" and "mode", in digits.
struct TfPluginData {
  std::string plugin_name;
  std::string content;
  friend bool operator==(const TfPluginData&, const TfPluginData&) = default;
};

// Summary.Value. One of simple_value, histogram, image and tensor.
struct TfValue {
  std::string tag;
  std::optional<float> simple_value;
  std::optional<TfHistogram> histogram;
  std::optional<TfImage> image;
  std::optional<TensorValue> tensor;
  std::vector<TfPluginData> plugin_data;
};

struct TfEvent {
  double wall_time_s = 0;  // since 1970
  std::int64_t step = 0;
  std::string file_version;  // "brain.Event:2" in the first record of TensorBoard's files
  std::vector<TfValue> values;
};

std::string encode_event(const TfEvent& event);
// The same of one tensor, which is packed and in host memory, with one copy of it. `as_smdebug`: each dimension has the
// name "<tag>_<size>", and strings have no dtype.
std::string encode_tensor_event(double wall_time_s, std::int64_t step, std::string_view tag, const TensorView& tensor,
                                const std::vector<TfPluginData>& plugin_data, bool as_smdebug);

// kDataLoss when it is no Event; kUnimplemented for a tensor of a type that has no counterpart (the message names it).
// Values of a tensor may lie in tensor_content or in the typed lists; a list that is shorter than the shape repeats its
// last (kResourceExhausted when that would take more than 64 MiB). A tensor with strings and no dtype is one of strings
// (smdebug writes them so).
Result<TfEvent> decode_event(ByteSpan payload);

// Type and shape of the tensor in the event's first value, without a copy of it. Errors as above.
Result<std::pair<DType, Shape>> decode_event_shape(ByteSpan payload);

}  // namespace trainwarden::foreign
