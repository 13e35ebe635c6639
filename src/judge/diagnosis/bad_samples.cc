#include "judge/diagnosis/bad_samples.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/json.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

using format::Json;

constexpr std::size_t kMaxBadText = 64 << 10;
constexpr std::size_t kMaxBadInStep = 16;
constexpr std::size_t kMaxSamplesNamed = 4;
constexpr std::size_t kMaxName = 300;
constexpr std::array<std::string_view, 3> kKinds = {"not_finite", "outlier", "same"};

std::string name_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return {};
  return printable(found->get<std::string>().substr(0, kMaxName));
}

// -1 where it is no count.
std::int64_t count_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return -1;
  return std::max<std::int64_t>(-1, found->get<std::int64_t>());
}

std::vector<BadSample> samples_in(const Json& batch) {
  std::vector<BadSample> samples;
  const auto found = batch.find("samples");
  if (found == batch.end() || !found->is_array()) return samples;
  for (const Json& each : *found) {
    if (!each.is_object() || samples.size() == kMaxSamplesNamed) continue;
    samples.push_back({count_in(each, "row"), count_in(each, "index"), name_in(each, "source")});
  }
  return samples;
}

BadBatch batch_of(const Json& json) {
  BadBatch batch;
  batch.kind = name_in(json, "kind");
  batch.data_set = name_in(json, "data_set");
  batch.place = short_place(name_in(json, "place"));
  batch.count = count_in(json, "count");
  batch.epoch = count_in(json, "epoch");
  batch.number = count_in(json, "number");
  batch.worker = count_in(json, "worker");
  if (const auto value = json.find("value"); value != json.end() && value->is_number()) batch.value = *value;
  batch.samples = samples_in(json);
  return batch;
}

std::string described(const BadSample& sample) {
  if (sample.index < 0) return fmt::format("row {}", sample.row);
  return sample.source.empty() ? fmt::format("{}", sample.index) : fmt::format("{} ({})", sample.index, sample.source);
}

}  // namespace

Result<std::vector<BadBatch>> read_bad_batches(std::string_view text) {
  constexpr std::string_view kWhat = "the signal of bad samples";
  if (text.size() > kMaxBadText) return Status(Code::kDataLoss, fmt::format("{} is too long", kWhat));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, format::parse_json_object(text, kWhat));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* listed, format::array_field(json, "batches"));
  std::vector<BadBatch> batches;
  for (const Json& each : *listed) {
    if (!each.is_object() || batches.size() == kMaxBadInStep) continue;
    BadBatch batch = batch_of(each);
    const bool is_known = std::find(kKinds.begin(), kKinds.end(), batch.kind) != kKinds.end();
    if (is_known && !batch.samples.empty()) batches.push_back(std::move(batch));
  }
  return batches;
}

std::string described(const BadBatch& batch) {
  std::string samples;
  for (const BadSample& sample : batch.samples) samples += (samples.empty() ? "" : ", ") + described(sample);
  const auto named = static_cast<std::int64_t>(batch.samples.size());
  if (batch.count > named) samples += fmt::format(" and {} more", batch.count - named);
  const bool has_index = batch.samples.front().index >= 0;
  std::string text = !has_index ? samples : fmt::format("sample{} {}", batch.count > 1 ? "s" : "", samples);
  if (has_index && !batch.data_set.empty()) text += fmt::format(" of {}", batch.data_set);
  if (batch.number >= 0 && batch.epoch >= 0)
    text += fmt::format(", in batch {} of epoch {}", batch.number, batch.epoch);
  if (batch.worker >= 0) text += fmt::format(", from worker {}", batch.worker);
  if (!batch.place.empty()) {
    text += fmt::format("{} the loader made at {}", batch.worker >= 0 ? " of" : ", from", batch.place);
  }
  return text;
}

}  // namespace trainwarden::diagnosis
