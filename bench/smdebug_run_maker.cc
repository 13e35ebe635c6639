// Writes with the encoders of src/data/foreign, file by file.
#include "smdebug_run_maker.h"

#include <array>
#include <fstream>
#include <stdexcept>
#include <string>

#include "core/base/bytes.h"
#include "data/foreign/smdebug_index.h"
#include "data/foreign/smdebug_layout.h"
#include "data/foreign/smdebug_manifest.h"
#include "data/foreign/tf_event.h"
#include "data/foreign/tf_record.h"

namespace trainwarden::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWorker = "worker_0";

struct MadeTensor {
  std::string_view name;
  Shape shape;
};
const std::array kTensors = {
    MadeTensor{"CrossEntropyLoss_output_0", {1}}, MadeTensor{"Net_fc.bias", {4}}, MadeTensor{"Net_fc.weight", {4, 4}},
    MadeTensor{"gradient/Net_fc.bias", {4}},      MadeTensor{kRunTensor, {4, 4}},
};

// Writes the file, and the folders that it lies in.
void write_file(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::string manifest() {
  foreign::SmdebugManifest manifest;
  for (const auto& [name, pattern] : {std::pair("gradients", "^gradient"),
                                      {"weights", "^(?!gradient).*weight"},
                                      {"biases", "^(?!gradient).*bias"},
                                      {"losses", "[Ll]oss_(?!input).*output"}}) {
    manifest.collections.push_back({.collection = {.name = name, .include = {pattern}, .save = SavePolicy::every(1)}});
  }
  return foreign::encode_smdebug_manifest(manifest);
}

// The events of a step, and where each tensor lies among them.
struct MadeStep {
  std::string events;
  foreign::SmdebugIndex index;
};

MadeStep make_step(int step) {
  MadeStep made;
  made.index = {.mode = Mode::kTrain, .mode_step = step, .event_file = foreign::smdebug_event_file(step, kWorker)};
  const std::vector<foreign::TfPluginData> plugins = {{"mode_step", std::to_string(step)}, {"mode", "1"}};
  for (const MadeTensor& tensor : kTensors) {
    std::array<float, 16> values{};
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(step) + 0.125f * static_cast<float>(i);
    const TensorView view = TensorView::of(values.data(), DType::kFloat32, tensor.shape);
    const std::string event =
        foreign::encode_tensor_event(1.6e9 + step, step, tensor.name, view, plugins, /*as_smdebug=*/true);
    const std::size_t offset = made.events.size();
    foreign::append_record(made.events, as_bytes(event), foreign::RecordFooter::kConstant);
    made.index.tensors.push_back({std::string(tensor.name), offset, made.events.size() - offset});
  }
  return made;
}

}  // namespace

void make_smdebug_run(const fs::path& folder, int steps, EventFiles event_files) {
  write_file(folder / foreign::smdebug_manifest_file(kWorker), manifest());
  for (int step = 0; step < steps; ++step) {
    const MadeStep made = make_step(step);
    if (event_files == EventFiles::kWritten) write_file(folder / made.index.event_file, made.events);
    write_file(folder / foreign::smdebug_index_file(step, kWorker), foreign::encode_smdebug_index(made.index));
  }
  write_file(folder / foreign::kSmdebugEndMarker, "");
}

}  // namespace trainwarden::bench
