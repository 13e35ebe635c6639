#include "read/trial/run_testing.h"

#include <cstring>
#include <fstream>
#include <stdexcept>

#include "core/base/bytes.h"
#include "data/format/run_event.h"
#include "store/journal/format_versions.h"

namespace trainwarden {
namespace {

using journal::RecordForm;

void must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

std::uint16_t half_bits(float value, DType dtype) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if (dtype == DType::kBFloat16) return static_cast<std::uint16_t>(bits >> 16);
  const std::uint32_t sign = bits >> 16 & 0x8000;
  const std::uint32_t magnitude = (bits & 0x7fffffff) >> 13;  // 8 bits of exponent, 10 of mantissa
  constexpr std::uint32_t kLessBias = (127 - 15) * 1024;      // of the exponents' biases
  if (value == 0) return static_cast<std::uint16_t>(sign);
  if (magnitude < kLessBias + 1024 || magnitude >= kLessBias + 31 * 1024) {
    throw std::invalid_argument("no normal number of float16");
  }
  return static_cast<std::uint16_t>(sign | (magnitude - kLessBias));
}

Shape shape_of(const TestTensor& tensor, std::size_t count) {
  return tensor.shape.rank() == 0 ? Shape{static_cast<std::int64_t>(count)} : tensor.shape;
}

TensorView view_of(const TestTensor& tensor) {
  if (!tensor.halves.empty()) {
    return TensorView::of(tensor.halves.data(), tensor.half_dtype, shape_of(tensor, tensor.halves.size()));
  }
  if (!tensor.doubles.empty())
    return TensorView::of(tensor.doubles.data(), DType::kFloat64, shape_of(tensor, tensor.doubles.size()));
  const bool is_whole = !tensor.integers.empty();
  const Shape shape = shape_of(tensor, is_whole ? tensor.integers.size() : tensor.values.size());
  if (is_whole) return TensorView::of(tensor.integers.data(), DType::kInt64, shape);
  return TensorView::of(tensor.values.data(), DType::kFloat32, shape);
}

journal::StatisticsRow statistics_row(std::uint32_t id, const TestTensor& tensor) {
  const TensorView view = view_of(tensor);
  journal::StatisticsRow row{id, view.dtype, view.shape, tensor.form == RecordForm::kShape, {}};
  if (row.shape_only) return row;
  auto statistics = compute_statistics(view, tensor.statistics);
  must(statistics.status());
  row.statistics = *std::move(statistics);
  return row;
}

journal::KeptTensor kept_tensor(std::uint32_t id, const TestTensor& tensor) {
  if (!tensor.strings.empty()) {
    return {id, DType::kString, shape_of(tensor, tensor.strings.size()), {}, tensor.strings};
  }
  const TensorView view = view_of(tensor);
  return {id, view.dtype, view.shape, {static_cast<const std::byte*>(view.data), view.packed_bytes()}, {}};
}

void add_record(journal::StepBatch& batch, std::uint32_t id, const TestTensor& tensor) {
  switch (tensor.form) {
    case RecordForm::kValue: batch.tensors.push_back(kept_tensor(id, tensor)); break;
    case RecordForm::kScalar: batch.scalars.push_back({id, tensor.values.at(0)}); break;
    case RecordForm::kReductions:
      for (const SavedReduction& saved : tensor.reductions) {
        batch.reductions.push_back({id, saved.reduction, saved.abs, saved.value});
      }
      break;
    case RecordForm::kStatistics:
    case RecordForm::kShape: batch.statistics.push_back(statistics_row(id, tensor)); break;
  }
}

// What lies below `path` of the storage, into `folder`.
void copy_files(const storage::MemoryStorage& storage, const std::string& path, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const auto names = storage.list(path);
  must(names.status());
  for (const std::string& name : *names) {
    const std::string inside = path.empty() ? name : path + "/" + name;
    if (storage.list(inside).ok()) {
      copy_files(storage, inside, folder / name);
    } else {
      std::ofstream(folder / name, std::ios::binary) << storage.content(inside);
    }
  }
}

}  // namespace

TestTensor kept(std::string name, std::vector<float> values, std::vector<std::string> collections) {
  return {std::move(name), RecordForm::kValue, std::move(values), {}, std::move(collections)};
}

TestTensor reduced(std::string name, std::vector<float> values, std::vector<std::string> collections) {
  return {std::move(name), RecordForm::kStatistics, std::move(values), {}, std::move(collections)};
}

TestTensor summarised(std::string name, std::vector<float> values, std::vector<std::string> collections) {
  TestTensor tensor = reduced(std::move(name), std::move(values), std::move(collections));
  tensor.statistics = {.histogram = true, .hash = true};
  return tensor;
}

TestTensor kept_integers(std::string name, std::vector<std::int64_t> values, std::vector<std::string> collections) {
  TestTensor tensor = kept(std::move(name), {}, std::move(collections));
  tensor.integers = std::move(values);
  return tensor;
}

TestTensor kept_doubles(std::string name, std::vector<double> values, std::vector<std::string> collections) {
  TestTensor tensor = kept(std::move(name), {}, std::move(collections));
  tensor.doubles = std::move(values);
  return tensor;
}

TestTensor in_half(TestTensor tensor, DType dtype) {
  for (const float value : tensor.values) tensor.halves.push_back(half_bits(value, dtype));
  tensor.half_dtype = dtype;
  return tensor;
}

TestTensor shaped(TestTensor tensor, const Shape& shape) {
  tensor.shape = shape;
  return tensor;
}

TestTensor scalar(std::string name, float value, std::vector<std::string> collections) {
  return {std::move(name), RecordForm::kScalar, {value}, {}, std::move(collections)};
}

TestTensor shape_only(std::string name, std::vector<float> values, std::vector<std::string> collections) {
  return {std::move(name), RecordForm::kShape, std::move(values), {}, std::move(collections)};
}

TestTensor single_reductions(std::string name, std::vector<SavedReduction> reductions,
                             std::vector<std::string> collections) {
  return {std::move(name), RecordForm::kReductions, {}, {}, std::move(collections), std::move(reductions)};
}

TestTensor strings(std::string name, std::vector<std::string> strings, std::vector<std::string> collections) {
  return {std::move(name), RecordForm::kValue, {}, std::move(strings), std::move(collections)};
}

TestRun::TestRun(int world_size, std::vector<Collection> collections)
    : clock_(std::make_unique<FakeClock>()),
      storage_(storage::create_memory_storage()),
      collections_(std::move(collections)) {
  info_.id = "00112233445566778899aabbccddeeff";
  info_.format_version = journal::kNewestVersion;  // as hooks write
  info_.created_unix_ns = clock_->unix_ns();
  info_.world_size = world_size;
  must(journal::create_or_join_run(*storage_, info_).status());
}

journal::JournalWriter& TestRun::writer(int worker) {
  auto& writer = writers_[worker];
  if (writer != nullptr) return *writer;
  journal::JournalOptions options;
  options.writer = worker < 0 ? journal::machine_name(kMachine - worker) : journal::worker_name(worker);
  options.writer_id = journal::writer_id_of(options.writer).value();
  options.collections = collections_;
  auto opened = journal::JournalWriter::open(*storage_, *clock_, info_, std::move(options));
  must(opened.status());
  writer = *std::move(opened);
  return *writer;
}

std::uint32_t TestRun::id_of(const TestTensor& tensor, journal::StepBatch& batch, int worker) {
  auto& ids = ids_[worker];
  const auto [found, is_new] = ids.emplace(tensor.name, static_cast<std::uint32_t>(ids.size()));
  if (is_new) batch.new_names.push_back({found->second, tensor.name, tensor.collections});
  return found->second;
}

void TestRun::add(const TestStep& step) {
  journal::StepBatch batch;
  batch.global_step = step.step;
  batch.mode = step.mode;
  batch.mode_step = step.mode_step < 0 ? step.step : step.mode_step;
  for (const TestTensor& tensor : step.tensors) add_record(batch, id_of(tensor, batch, step.worker), tensor);
  must(writer(step.worker).append_step(batch));
  clock_->advance_ns(1'000'000);
}

void TestRun::add_steps(std::int64_t first, std::int64_t last, int worker) {
  for (std::int64_t step = first; step <= last; ++step) add({.step = step, .worker = worker});
}

void TestRun::sample(const Metric& metric, const std::vector<double>& values, std::int64_t apart_ns, int worker) {
  sample_together({{metric, values}}, apart_ns, worker);
}

void TestRun::sample_together(const std::vector<std::pair<Metric, std::vector<double>>>& series, std::int64_t apart_ns,
                              int worker) {
  journal::SampleBatch batch;
  batch.tables.emplace_back();
  auto& ids = metrics_[worker];
  for (const auto& [metric, values] : series) {
    const auto next = static_cast<std::uint32_t>(ids.size());
    const auto [id, is_new] = ids.emplace(metric.name + " of " + metric.instance, next);
    if (is_new) batch.new_metrics.push_back({id->second, metric});
    batch.tables[0].series.push_back({id->second, values});
  }
  for (std::size_t i = 0; i < series.at(0).second.size(); ++i) {
    batch.tables[0].ticks.push_back(clock_->unix_ns());
    clock_->advance_ns(apart_ns);
  }
  must(writer(worker).append_samples(batch));
}

void TestRun::operators(const OperatorBatch& batch, int worker) {
  must(writer(worker).append_operators(batch));
}

void TestRun::event(const std::string& json, int worker) {
  must(writer(worker).append_event(format::FrameKind::kEvent, -1, json));
}

void TestRun::start(int worker) {
  writer(worker);
}

void TestRun::end(int worker, bool stopped) {
  event(format::encode_run_end({stopped, stopped ? "asked to stop" : ""}), worker);
  must(writer(worker).seal());
  kill(worker);
}

void TestRun::kill(int worker) {
  writers_.erase(worker);
  ids_.erase(worker);
}

void TestRun::save_to(const std::filesystem::path& folder) const {
  copy_files(*storage_, "", folder);
}

std::unique_ptr<Trial> TestRun::open(const TrialOptions& options) const {
  auto trial = TrialAccess::open({storage_, "memory"}, options, *clock_);
  must(trial.status());
  return *std::move(trial);
}

std::unique_ptr<journal::JournalWriter> output_writer(const TestRun& run, const journal::RunInfo& info) {
  auto writer = journal::JournalWriter::open(*run.storage(), run.clock(), info,
                                             {.writer = "output-0", .writer_id = *journal::writer_id_of("output-0")});
  must(writer.status());
  return *std::move(writer);
}

}  // namespace trainwarden
