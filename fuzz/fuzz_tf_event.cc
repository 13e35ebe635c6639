// Fuzzes event files: the input as a file of records, and as the payload of one. What is taken can be written, and is
// read again as what was written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "core/base/bytes.h"
#include "data/foreign/tf_event.h"
#include "data/foreign/tf_record.h"

namespace {

using namespace trainwarden;

void check_event(ByteSpan payload) {
  const auto event = foreign::decode_event(payload);
  const auto shape = foreign::decode_event_shape(payload);
  if (!event.ok()) {
    if (event.status().message().empty()) std::abort();
    return;
  }
  for (const foreign::TfValue& value : event->values) {
    if (!value.tensor) continue;
    const auto elements = static_cast<std::size_t>(value.tensor->shape.element_count());
    const bool strings = value.tensor->dtype == DType::kString;
    const std::size_t expected = strings ? elements : elements * item_bytes(value.tensor->dtype);
    if (expected != (strings ? value.tensor->strings.size() : value.tensor->data.size())) std::abort();
  }
  const std::string written = foreign::encode_event(*event);
  const auto again = foreign::decode_event(as_bytes(written));
  if (!again.ok() || foreign::encode_event(*again) != written) std::abort();
}

void check_file(ByteSpan file) {
  foreign::RecordWalk walk(file);
  while (true) {
    const auto payload = walk.next();
    if (walk.offset() > file.size()) std::abort();
    if (!payload.ok()) continue;
    if (!*payload) return;
    check_event(**payload);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteSpan bytes = std::as_bytes(std::span(data, size));
  check_file(bytes);
  check_event(bytes);
  if (foreign::decode_record(bytes).ok()) {
    const ByteSpan payload = *foreign::decode_record(bytes);
    std::string constant;
    foreign::append_record(constant, payload, foreign::RecordFooter::kConstant);
    std::string genuine;
    foreign::append_record(genuine, payload, foreign::RecordFooter::kPayloadCrc);
    if (as_text(bytes) != constant && as_text(bytes) != genuine) std::abort();
  }
  return 0;
}
