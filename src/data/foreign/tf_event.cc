// Event, Summary and what hangs on a Summary.Value but the tensor.
#include "data/foreign/tf_event.h"

#include <new>

#include "data/foreign/protobuf_wire.h"
#include "data/foreign/tf_tensor.h"

namespace trainwarden::foreign {
namespace {

enum EventField : std::uint32_t { kWallTimeField = 1, kStepField = 2, kFileVersionField = 3, kSummaryField = 5 };
enum SummaryField : std::uint32_t { kValueField = 1 };
enum ValueField : std::uint32_t {
  kTagField = 1,
  kSimpleValueField = 2,
  kImageField = 4,
  kHistogramField = 5,
  kTensorField = 8,
  kMetadataField = 9
};
enum MetadataField : std::uint32_t { kPluginDataField = 1 };
enum PluginDataField : std::uint32_t { kPluginNameField = 1, kPluginContentField = 2 };
enum ImageField : std::uint32_t { kHeightField = 1, kWidthField = 2, kChannelsField = 3, kPngField = 4 };
enum HistogramField : std::uint32_t {
  kMinField = 1,
  kMaxField = 2,
  kNumField = 3,
  kSumField = 4,
  kSumSquaresField = 5,
  kBucketLimitField = 6,
  kBucketField = 7
};

std::string encode_metadata(const std::vector<TfPluginData>& plugin_data) {
  WireWriter metadata;
  for (const TfPluginData& plugin : plugin_data) {
    WireWriter writer;
    writer.put(kPluginNameField, plugin.plugin_name);
    writer.put(kPluginContentField, plugin.content);
    metadata.put_always(kPluginDataField, writer.text());
  }
  return std::move(metadata).take();
}

std::string encode_histogram(const TfHistogram& histogram) {
  WireWriter writer;
  writer.put(kMinField, histogram.min);
  writer.put(kMaxField, histogram.max);
  writer.put(kNumField, histogram.num);
  writer.put(kSumField, histogram.sum);
  writer.put(kSumSquaresField, histogram.sum_squares);
  writer.put_packed(kBucketLimitField, histogram.bucket_limit);
  writer.put_packed(kBucketField, histogram.bucket);
  return std::move(writer).take();
}

std::string encode_image(const TfImage& image) {
  WireWriter writer;
  writer.put(kHeightField, std::int64_t{image.height});
  writer.put(kWidthField, std::int64_t{image.width});
  writer.put(kChannelsField, std::int64_t{image.channels});
  writer.put(kPngField, image.png);
  return std::move(writer).take();
}

std::string encode_tensor_value(const TensorValue& value) {
  const std::vector<std::string_view> strings(value.strings.begin(), value.strings.end());
  TensorView view = value.view();
  if (value.dtype == DType::kString) view.data = strings.data();
  TensorMessage message = encode_tensor(view, std::nullopt);
  message.head.append(as_text(message.content));
  return std::move(message.head);
}

std::string encode_value(const TfValue& value) {
  WireWriter writer;
  writer.put(kTagField, value.tag);
  if (value.simple_value) writer.put_always(kSimpleValueField, *value.simple_value);
  if (value.image) writer.put_always(kImageField, encode_image(*value.image));
  if (value.histogram) writer.put_always(kHistogramField, encode_histogram(*value.histogram));
  if (value.tensor) writer.put_always(kTensorField, encode_tensor_value(*value.tensor));
  writer.put(kMetadataField, encode_metadata(value.plugin_data));
  return std::move(writer).take();
}

// A message that is not in one piece yet: `head`, the tensor's elements where they lie, `tail`.
struct Pieces {
  std::string head;
  ByteSpan content;
  std::string tail;
  std::uint64_t bytes() const { return head.size() + content.size() + tail.size(); }
};

// The message that has `inner` as its field `number`, behind the fields `before` and in front of those of `after`.
Pieces wrap(WireWriter before, std::uint32_t number, const Pieces& inner, std::string_view after = "") {
  before.start_bytes(number, inner.bytes()).append(inner.head);
  return {std::move(before).take(), inner.content, inner.tail + std::string(after)};
}

// Decoders: each reads one field into its part of the result.

Status read_doubles(const WireField& field, std::vector<double>& numbers) {
  return for_each_number(field, WireType::kFixed64, [&](std::uint64_t bits) {
    numbers.push_back(std::bit_cast<double>(bits));
    return Status();
  });
}

Status read_histogram(ByteSpan message, std::optional<TfHistogram>& result) {
  TfHistogram& histogram = result.emplace();
  return for_each_field(message, "HistogramProto", [&](const WireField& field) {
    switch (field.number) {
      case kMinField: return field.read(histogram.min);
      case kMaxField: return field.read(histogram.max);
      case kNumField: return field.read(histogram.num);
      case kSumField: return field.read(histogram.sum);
      case kSumSquaresField: return field.read(histogram.sum_squares);
      case kBucketLimitField: return read_doubles(field, histogram.bucket_limit);
      case kBucketField: return read_doubles(field, histogram.bucket);
      default: return Status();
    }
  });
}

Status read_image(ByteSpan message, std::optional<TfImage>& result) {
  TfImage& image = result.emplace();
  return for_each_field(message, "Summary.Image", [&](const WireField& field) {
    switch (field.number) {
      case kHeightField: return field.read(image.height);
      case kWidthField: return field.read(image.width);
      case kChannelsField: return field.read(image.channels);
      case kPngField: return field.read(image.png);
      default: return Status();
    }
  });
}

Status read_tensor(ByteSpan message, std::optional<TensorValue>& result) {
  TRAINWARDEN_ASSIGN_OR_RETURN(result, decode_tensor(message));
  return {};
}

Status read_plugin_data(ByteSpan message, TfPluginData& plugin) {
  return for_each_field(message, "PluginData", [&](const WireField& field) {
    switch (field.number) {
      case kPluginNameField: return field.read(plugin.plugin_name);
      case kPluginContentField: return field.read(plugin.content);
      default: return Status();
    }
  });
}

Status read_metadata(ByteSpan message, std::vector<TfPluginData>& plugin_data) {
  return for_each_field(message, "SummaryMetadata", [&](const WireField& field) {
    if (field.number != kPluginDataField) return Status();
    return read_message(field, plugin_data.emplace_back(), read_plugin_data);
  });
}

Status read_value(ByteSpan message, TfValue& value) {
  return for_each_field(message, "Summary.Value", [&](const WireField& field) {
    switch (field.number) {
      case kTagField: return field.read(value.tag);
      case kSimpleValueField: return field.read(value.simple_value.emplace());
      case kImageField: return read_message(field, value.image, read_image);
      case kHistogramField: return read_message(field, value.histogram, read_histogram);
      case kTensorField: return read_message(field, value.tensor, read_tensor);
      case kMetadataField: return read_message(field, value.plugin_data, read_metadata);
      default: return Status();
    }
  });
}

Status read_summary(ByteSpan message, std::vector<TfValue>& values) {
  return for_each_field(message, "Summary", [&](const WireField& field) {
    if (field.number != kValueField) return Status();
    return read_message(field, values.emplace_back(), read_value);
  });
}

Status read_event(ByteSpan message, TfEvent& event) {
  return for_each_field(message, "Event", [&](const WireField& field) {
    switch (field.number) {
      case kWallTimeField: return field.read(event.wall_time_s);
      case kStepField: return field.read(event.step);
      case kFileVersionField: return field.read(event.file_version);
      case kSummaryField: return read_message(field, event.values, read_summary);
      default: return Status();
    }
  });
}

// The first field `number` of the message, when there is one.
Result<std::optional<ByteSpan>> find_message(ByteSpan message, std::string_view what, std::uint32_t number) {
  std::optional<ByteSpan> found;
  TRAINWARDEN_RETURN_IF_ERROR(for_each_field(message, what, [&](const WireField& field) {
    return field.number == number && !found ? field.read(found.emplace()) : Status();
  }));
  return found;
}

}  // namespace

std::string encode_event(const TfEvent& event) {
  WireWriter summary;
  for (const TfValue& value : event.values) summary.put_always(kValueField, encode_value(value));
  WireWriter writer;
  writer.put(kWallTimeField, event.wall_time_s);
  writer.put(kStepField, event.step);
  writer.put(kFileVersionField, event.file_version);
  writer.put(kSummaryField, summary.text());
  return std::move(writer).take();
}

std::string encode_tensor_event(double wall_time_s, std::int64_t step, std::string_view tag, const TensorView& tensor,
                                const std::vector<TfPluginData>& plugin_data, bool as_smdebug) {
  const TensorMessage message = encode_tensor(tensor, as_smdebug ? std::optional(tag) : std::nullopt);
  WireWriter value_start;
  value_start.put(kTagField, tag);
  WireWriter metadata;
  metadata.put(kMetadataField, encode_metadata(plugin_data));
  WireWriter event_start;
  event_start.put(kWallTimeField, wall_time_s);
  event_start.put(kStepField, step);
  const Pieces value = wrap(std::move(value_start), kTensorField, {message.head, message.content, ""}, metadata.text());
  Pieces event = wrap(std::move(event_start), kSummaryField, wrap(WireWriter(), kValueField, value));
  event.head.reserve(event.bytes());
  return std::move(event.head.append(as_text(event.content)).append(event.tail));
}

Result<TfEvent> decode_event(ByteSpan payload) {
  try {
    TfEvent event;
    TRAINWARDEN_RETURN_IF_ERROR(read_event(payload, event));
    return event;
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "Event: not enough memory to read it");
  }
}

Result<std::pair<DType, Shape>> decode_event_shape(ByteSpan payload) {
  ByteSpan message = payload;
  for (const auto& [what, number] : {std::pair<std::string_view, std::uint32_t>{"Event", kSummaryField},
                                     {"Summary", kValueField},
                                     {"Summary.Value", kTensorField}}) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<ByteSpan> found, find_message(message, what, number));
    if (!found) return Status(Code::kDataLoss, std::string(what) + ": expected a tensor, found none");
    message = *found;
  }
  return decode_tensor_shape(message);
}

}  // namespace trainwarden::foreign
