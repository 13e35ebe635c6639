// Lines of system metrics. A folder has thousands of them for each minute, so they are read by simdjson.
#include "data/foreign/smdebug_system_metrics.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <simdjson.h>

#include "core/base/text.h"
#include "data/format/json.h"

namespace trainwarden::foreign {
namespace {

constexpr std::size_t kMaxLineBytes = 4096;
constexpr double kLastUnixSeconds = 9e9;  // the year 2255
constexpr double kNsInSecond = 1e9;

using simdjson::dom::element;

bool take_text(const element& object, const char* field, std::string_view& text) {
  return object[field].get(text) == simdjson::SUCCESS;
}

std::optional<SmdebugSample> sample_of(const element& object) {
  SmdebugSample sample;
  double seconds = 0;
  const bool whole = take_text(object, "Type", sample.type) && take_text(object, "Name", sample.name) &&
                     take_text(object, "Dimension", sample.dimension) && take_text(object, "NodeId", sample.node) &&
                     object["Value"].get(sample.value) == simdjson::SUCCESS &&
                     object["Timestamp"].get(seconds) == simdjson::SUCCESS;
  if (!whole || !std::isfinite(sample.value) || !(seconds >= 0 && seconds < kLastUnixSeconds)) return std::nullopt;
  sample.unix_ns = std::llround(seconds * kNsInSecond);
  return sample;
}

// Empty: nothing is to be read there.
std::string_view object_in(std::string_view line) {
  line = trim(line);
  if (line == "[" || line == "]") return {};
  if (line.ends_with(',')) line.remove_suffix(1);
  return trim(line);
}

}  // namespace

SmdebugSampleCount read_smdebug_samples(std::string_view text, const std::function<void(const SmdebugSample&)>& take) {
  simdjson::dom::parser parser(kMaxLineBytes);
  SmdebugSampleCount count;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view object = object_in(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (object.empty()) continue;
    element document;
    std::optional<SmdebugSample> sample;
    if (object.size() <= kMaxLineBytes && parser.parse(object.data(), object.size()).get(document) == simdjson::SUCCESS)
      sample = sample_of(document);
    if (sample) {
      take(*sample);
      ++count.read;
    } else {
      ++count.damaged;
    }
  }
  return count;
}

std::string smdebug_sample_line(const SmdebugSample& sample) {
  const auto text = [](std::string_view value) { return format::dump_json(std::string(value)); };
  constexpr std::int64_t kNs = 1'000'000'000, kNsInMicrosecond = 1000;
  return fmt::format(R"({{"Type":{},"Name":{},"Dimension":{},"Value":{},"NodeId":{},"Timestamp":{}.{:06}}})"
                     "\n",
                     text(sample.type), text(sample.name), text(sample.dimension), sample.value, text(sample.node),
                     sample.unix_ns / kNs, sample.unix_ns % kNs / kNsInMicrosecond);
}

}  // namespace trainwarden::foreign
