#include "read/trial/smdebug/smdebug_testing.h"

#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "data/foreign/smdebug_layout.h"
#include "data/foreign/tf_event.h"
#include "read/trial/trial_access.h"

namespace trainwarden {
namespace {

constexpr double kFirstWallTime_s = 1'600'000'000;

foreign::SmdebugManifest announcing(int workers, const std::vector<foreign::SmdebugCollection>& collections) {
  foreign::SmdebugManifest manifest;
  manifest.num_workers = workers;
  manifest.collections = collections;
  return manifest;
}

// ModeKeys: TRAIN 1, EVAL 2, PREDICT 3, GLOBAL 4.
int mode_key(Mode mode) {
  switch (mode) {
    case Mode::kTrain: return 1;
    case Mode::kEval: return 2;
    case Mode::kPredict: return 3;
    case Mode::kGlobal: return 4;
  }
  return 0;
}

// What lies below `path`, which is a folder.
void copy(const storage::MemoryStorage& storage, const std::string& path, const std::filesystem::path& to) {
  std::filesystem::create_directories(to);
  const auto names = storage.list(path);
  for (const std::string& name : *names) {
    const std::string entry = path.empty() ? name : path + "/" + name;
    if (storage.list(entry).ok()) {
      copy(storage, entry, to / name);
    } else {
      std::ofstream(to / name, std::ios::binary) << storage.content(entry);
    }
  }
}

}  // namespace

SmdebugTestFiles smdebug_files(const SmdebugTestStep& step, foreign::RecordFooter footer) {
  SmdebugTestFiles files;
  files.index.mode = step.mode;
  files.index.mode_step = step.mode_step < 0 ? step.step : step.mode_step;
  files.index.shapes = step.shapes;
  const std::vector<foreign::TfPluginData> plugin_data = {{"mode_step", std::to_string(files.index.mode_step)},
                                                          {"mode", std::to_string(mode_key(step.mode))}};
  for (const SmdebugTestTensor& tensor : step.tensors) {
    const Shape shape{static_cast<std::int64_t>(tensor.values.size())};
    const std::string event = foreign::encode_tensor_event(
        kFirstWallTime_s + static_cast<double>(step.step), step.step, tensor.name,
        TensorView::of(tensor.values.data(), DType::kFloat32, shape), plugin_data, /*as_smdebug=*/true);
    const std::size_t offset = files.events.size();
    foreign::append_record(files.events, as_bytes(event), footer);
    files.index.tensors.push_back({tensor.name, offset, files.events.size() - offset});
  }
  if (!step.tensors.empty()) files.index.event_file = foreign::smdebug_event_file(step.step, step.worker);
  return files;
}

SmdebugTestRun::SmdebugTestRun(int workers, const std::vector<foreign::SmdebugCollection>& collections)
    : storage_(storage::create_memory_storage()) {
  for (int i = 0; i < workers; ++i) manifest(fmt::format("worker_{}", i), announcing(workers, collections));
}

void SmdebugTestRun::manifest(const std::string& worker, const foreign::SmdebugManifest& manifest) {
  put(foreign::smdebug_manifest_file(worker), foreign::encode_smdebug_manifest(manifest));
}

void SmdebugTestRun::add(const SmdebugTestStep& step) {
  SmdebugTestFiles files = smdebug_files(step);
  if (!files.events.empty()) put(files.index.event_file, std::move(files.events));
  put(foreign::smdebug_index_file(step.step, step.worker), foreign::encode_smdebug_index(files.index));
}

void SmdebugTestRun::add_steps(std::int64_t first, std::int64_t last, const std::vector<std::string>& workers) {
  for (std::int64_t step = first; step <= last; ++step) {
    for (const std::string& worker : workers) add({.step = step, .worker = worker});
  }
}

void SmdebugTestRun::end() {
  put(std::string(foreign::kSmdebugEndMarker), "");
}

void SmdebugTestRun::copy_to(const std::filesystem::path& folder) const {
  copy(*storage_, "", folder);
}

std::unique_ptr<Trial> SmdebugTestRun::open(const TrialOptions& options) const {
  auto trial = TrialAccess::open({storage_, "memory"}, options);
  if (!trial.ok()) throw std::runtime_error(trial.status().to_string());
  return *std::move(trial);
}

}  // namespace trainwarden
