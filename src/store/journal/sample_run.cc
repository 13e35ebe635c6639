#include "store/journal/sample_run.h"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace trainwarden::journal {
namespace {

std::vector<std::byte> sample_bytes(std::uint32_t id, std::int64_t step, DType dtype, std::int64_t elements) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(elements) * item_bytes(dtype));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint64_t mixed = (id * 31u + static_cast<std::uint64_t>(step) * 17u + i) * 0x9E3779B97F4A7C15u;
    bytes[i] = static_cast<std::byte>(dtype == DType::kBool ? (mixed >> 60) & 1 : mixed >> 56);
  }
  return bytes;
}

// `odd` / 2 as an exact sum.
ExactSum halves(std::int64_t odd) {
  const auto magnitude = static_cast<std::uint64_t>(odd < 0 ? -odd : odd);
  ExactSum sum{odd < 0, -1, {std::uint64_t{1} << 63}};
  if (magnitude > 1) sum.limbs.push_back(magnitude / 2);
  return sum;
}

// The statistics of [0.5 + step, -2, 0, NaN, +infinity], written out so that they depend on no other code.
Statistics sample_statistics(std::int64_t step) {
  const double first = 0.5 + static_cast<double>(step);
  const auto whole = static_cast<std::uint64_t>(step);
  Statistics statistics;
  statistics.count = 5;
  statistics.nan_count = 1;
  statistics.positive_inf_count = 1;
  statistics.zero_count = 1;
  statistics.min = -2;
  statistics.max = first;
  statistics.abs_min = 0;
  statistics.abs_max = first > 2 ? first : 2;
  statistics.sum = halves(2 * step - 3);
  statistics.abs_sum = halves(2 * step + 5);
  statistics.square_sum = {false, -1, {std::uint64_t{1} << 62, whole * whole + whole + 4}};
  statistics.has_histogram = true;
  statistics.histogram.bins = {{0, 1}, {static_cast<std::uint16_t>(504 + step % 100), 1}, {1536, 1}};
  statistics.has_hash = true;
  statistics.hash = 0x0123456789ABCDEFu + whole;
  return statistics;
}

template <class Row>
const Row* find_row(const std::vector<Row>& rows, std::string_view tensor) {
  for (const Row& row : rows) {
    if (sample_name(row.id) == tensor) return &row;
  }
  return nullptr;
}

std::string value_difference(const TensorValue& value, const KeptTensor& kept) {
  if (value.dtype != kept.dtype) return fmt::format("dtype {} is not {}", name(value.dtype), name(kept.dtype));
  if (!(value.shape == kept.shape)) return "shape " + value.shape.to_string() + " is not " + kept.shape.to_string();
  if (value.data.size() != kept.data.size()) return "another number of bytes";
  if (!value.data.empty() && std::memcmp(value.data.data(), kept.data.data(), kept.data.size()) != 0) return "bytes";
  if (value.strings != std::vector<std::string>(kept.strings.begin(), kept.strings.end())) return "strings";
  return {};
}

// "missing" is what a status of damage counts as, so that the caller can allow it.
constexpr std::string_view kMissing = "missing";

std::string outcome(const Status& status) {
  if (status.code() == Code::kDataLoss) return std::string(kMissing);
  return status.to_string();
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

std::string reductions_difference(JournalReader& reader, const Record& record, const StepBatch& batch) {
  const ReductionRow* row = find_row(batch.reductions, reader.tensors()[record.tensor].name);
  if (row == nullptr) return "invented reductions";
  const auto saved = reader.read_reductions(record);
  if (!saved.ok()) return outcome(saved.status());
  const std::uint32_t id = row->id;
  const ReductionRow* const end = batch.reductions.data() + batch.reductions.size();
  for (const SavedReduction& one : *saved) {
    const bool same = row != end && row->id == id && one.reduction == row->reduction && one.abs == row->abs &&
                      same_bits(one.value, row->value);
    if (!same) return "reductions";
    ++row;
  }
  return row == end || row->id != id ? "" : "fewer reductions";
}

std::string record_difference(JournalReader& reader, const Record& record, const StepBatch& batch) {
  const std::string& tensor = reader.tensors()[record.tensor].name;
  if (record.form == RecordForm::kValue) {
    const KeptTensor* kept = find_row(batch.tensors, tensor);
    if (kept == nullptr) return "an invented value";
    const Result<TensorValue> value = reader.read_value(record);
    if (!value.ok()) return outcome(value.status());
    const auto shape = reader.read_shape(record);
    if (!shape.ok() || shape->first != kept->dtype || !(shape->second == kept->shape)) return "read_shape";
    return value_difference(*value, *kept);
  }
  if (record.form == RecordForm::kScalar) {
    const ScalarRow* row = find_row(batch.scalars, tensor);
    if (row == nullptr) return "an invented scalar";
    const Result<double> value = reader.read_scalar(record);
    if (!value.ok()) return outcome(value.status());
    return same_bits(*value, row->value) ? "" : "scalar";
  }
  if (record.form == RecordForm::kReductions) return reductions_difference(reader, record, batch);
  const StatisticsRow* row = find_row(batch.statistics, tensor);
  if (row == nullptr || row->shape_only != (record.form == RecordForm::kShape)) return "invented statistics";
  Result<StatisticsRow> read = reader.read_statistics(record);
  if (!read.ok()) return outcome(read.status());
  read->id = row->id;
  return *read == *row ? "" : "statistics";
}

template <class T>
T or_abort(Result<T> result) {
  if (result.ok()) return std::move(*result);
  fmt::print(stderr, "{}\n", result.status().to_string());
  std::abort();
}

}  // namespace

SampleStep::SampleStep(std::int64_t global_step, Mode mode, std::int64_t mode_step) {
  batch_.global_step = global_step;
  batch_.mode = mode;
  batch_.mode_step = mode_step;
}

void SampleStep::name_tensor(std::uint32_t id, std::string name, std::vector<std::string> collections) {
  batch_.new_names.push_back({id, std::move(name), std::move(collections)});
}

void SampleStep::keep(std::uint32_t id, DType dtype, const Shape& shape) {
  data_.push_back(sample_bytes(id, batch_.global_step, dtype, shape.element_count()));
  batch_.tensors.push_back({id, dtype, shape, data_.back(), {}});
}

void SampleStep::keep_strings(std::uint32_t id, const Shape& shape, std::vector<std::string> strings) {
  strings_.push_back(std::move(strings));
  batch_.tensors.push_back({id, DType::kString, shape, {}, strings_.back()});
}

void SampleStep::add_statistics(std::uint32_t id) {
  batch_.statistics.push_back({id, DType::kFloat32, {5}, false, sample_statistics(batch_.global_step)});
}

void SampleStep::add_shape(std::uint32_t id, DType dtype, const Shape& shape) {
  batch_.statistics.push_back({id, dtype, shape, true, {}});
}

void SampleStep::add_scalar(std::uint32_t id, double value) {
  batch_.scalars.push_back({id, value});
}

void SampleStep::add_reductions(std::uint32_t id) {
  for (int i = 0; i < kReductionCount; ++i) {
    const double value = i == 0 ? -0.0 : static_cast<double>(batch_.global_step) + id + 1.0 / i;
    batch_.reductions.push_back({id, static_cast<Reduction>(i), false, value});
    batch_.reductions.push_back({id, static_cast<Reduction>(i), true, 1 / value});
  }
}

void SampleStep::lose(std::string cause, std::uint64_t count, std::uint64_t bytes) {
  batch_.losses.push_back({std::move(cause), count, bytes, "the staging ring had no room"});
}

RunInfo sample_run_info() {
  RunInfo info;
  info.id = "00112233445566778899aabbccddeeff";
  info.created_unix_ns = 1'700'000'000'000'000'000;
  info.code_version = "sample";
  info.host = "host";
  info.command = {"train", "--lr", "0.1"};
  info.labels = {{"data", "fashion"}, {"lr", "0.1"}};
  return info;
}

JournalOptions sample_journal_options() {
  JournalOptions options;
  options.writer = "rank-00000";
  options.pid = 4711;
  options.collections.resize(2);
  options.collections[0].name = "weights";
  options.collections[0].include = {"\\.weight$"};
  options.collections[1].name = "scalars";
  return options;
}

std::string sample_name(std::uint32_t id) {
  return fmt::format("layer{}.weight", id);
}

std::unique_ptr<SampleStep> step_of_everything(std::int64_t global_step, Mode mode, std::int64_t mode_step,
                                               bool with_names) {
  constexpr auto kStringId = static_cast<std::uint32_t>(DType::kString);
  constexpr std::uint32_t kEmptyId = kDTypeCount;
  constexpr std::uint32_t kRankZeroId = kDTypeCount + 1;
  auto step = std::make_unique<SampleStep>(global_step, mode, mode_step);
  for (std::uint32_t id = 0; with_names && id <= kRankZeroId; ++id) step->name_tensor(id, sample_name(id), {"weights"});
  for (std::uint32_t id = 0; id < kStringId; ++id) step->keep(id, static_cast<DType>(id), {2, 3});
  step->keep_strings(kStringId, {3}, {"", "grüße", std::string("a\0b", 3)});
  step->keep(kEmptyId, DType::kFloat32, {0, 4});
  step->keep(kRankZeroId, DType::kFloat64, {});
  step->add_statistics(9);
  step->add_statistics(11);
  step->add_shape(12, DType::kBFloat16, {7, 1, 2});
  step->add_scalar(3, 0.25 * static_cast<double>(global_step));
  step->add_scalar(4, -0.0);
  if (global_step % 2 == 1) step->lose("staging_full", 3, 4096);
  return step;
}

std::unique_ptr<SampleStep> step_of_reductions(std::int64_t global_step, bool with_names) {
  auto step = std::make_unique<SampleStep>(global_step, Mode::kTrain, global_step);
  for (std::uint32_t id = 0; with_names && id < 3; ++id) step->name_tensor(id, sample_name(id), {"weights"});
  step->keep(0, DType::kFloat32, {4});
  step->add_statistics(1);
  for (std::uint32_t id = 0; id < 3; ++id) step->add_reductions(id);
  return step;
}

std::unique_ptr<SampleStep> step_of_many_scalars(std::int64_t global_step, bool with_names) {
  constexpr std::uint32_t kScalars = 340;
  auto step = std::make_unique<SampleStep>(global_step, Mode::kTrain, global_step);
  for (std::uint32_t id = 0; id <= kScalars && with_names; ++id) step->name_tensor(id, sample_name(id), {"losses"});
  step->keep(kScalars, DType::kFloat32, {2});
  const bool whole = global_step % 3 != 0;
  for (std::uint32_t id = whole ? 0 : 1; id < kScalars; ++id) {
    step->add_scalar(id, static_cast<double>(global_step) + id / 1024.0);
  }
  if (!whole) step->lose("staging_full", 1, 8);
  return step;
}

std::unique_ptr<SampleStep> small_step(std::int64_t global_step, bool with_names) {
  auto step = std::make_unique<SampleStep>(global_step, Mode::kTrain, global_step);
  for (std::uint32_t id = 0; with_names && id < 3; ++id) step->name_tensor(id, sample_name(id), {"weights"});
  step->keep(0, DType::kFloat32, {4, 5});
  step->add_statistics(1);
  step->add_scalar(2, static_cast<double>(global_step));
  return step;
}

std::string difference(JournalReader& reader, std::size_t step_index, const StepBatch& batch, bool missing_is_fine) {
  const StepEntry& entry = reader.steps()[step_index];
  if (entry.global_step != batch.global_step || entry.mode != batch.mode || entry.mode_step != batch.mode_step) {
    return fmt::format("step {} is not {}", entry.global_step, batch.global_step);
  }
  const Result<std::span<const Record>> records = reader.records(step_index);
  if (!records.ok()) return records.status().to_string();
  const std::size_t expected_count = batch.tensors.size() + batch.statistics.size() + batch.scalars.size() +
                                     format::first_rows(batch.reductions).size();
  const bool missing = records->size() < expected_count;
  if (records->size() > expected_count || (missing && !missing_is_fine)) {
    return fmt::format("{} records in place of {}", records->size(), expected_count);
  }
  for (const Record& record : *records) {
    const std::string what = record_difference(reader, record, batch);
    if (what.empty() || (missing_is_fine && what == kMissing)) continue;
    return fmt::format("{} of {} at step {}", what, reader.tensors()[record.tensor].name, batch.global_step);
  }
  return {};
}

std::unique_ptr<JournalWriter> open_sample_writer(storage::Storage& storage, const Clock& clock,
                                                  JournalOptions options) {
  return or_abort(JournalWriter::open(storage, clock, sample_run_info(), std::move(options)));
}

std::unique_ptr<JournalReader> open_sample_reader(const storage::Storage& storage, bool live, std::string_view writer) {
  JournalReaderOptions options;
  options.live = live;
  return or_abort(JournalReader::open(storage, sample_run_info(), writer, options));
}

}  // namespace trainwarden::journal
