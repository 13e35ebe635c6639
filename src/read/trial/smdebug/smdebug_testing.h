// SmdebugTestRun: writes small folders into memory, the way smdebug does. For tests of this floor and those above.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/foreign/smdebug_index.h"
#include "data/foreign/smdebug_manifest.h"
#include "data/foreign/tf_record.h"
#include "store/storage/memory_storage.h"
#include "trainwarden/reduction.h"
#include "trainwarden/tensor_view.h"
#include "trainwarden/trial.h"

namespace trainwarden {

struct SmdebugTestTensor {
  std::string name;  // the whole tag, for a reduction too
  std::vector<float> values;
};

struct SmdebugTestStep {
  std::int64_t step = 0;
  std::string worker = "worker_0";
  std::vector<SmdebugTestTensor> tensors{{"loss", {1}}};
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = -1;  // -1: the same as `step`
  std::vector<foreign::SmdebugShape> shapes{};
};

// An event file with its index.
struct SmdebugTestFiles {
  std::string events;
  foreign::SmdebugIndex index;
};
SmdebugTestFiles smdebug_files(const SmdebugTestStep& step,
                               foreign::RecordFooter footer = foreign::RecordFooter::kConstant);

class SmdebugTestRun {
 public:
  // With a manifest for each worker, "worker_0" and up; none when there are to be 0.
  explicit SmdebugTestRun(int workers = 1, const std::vector<foreign::SmdebugCollection>& collections = {});

  void manifest(const std::string& worker, const foreign::SmdebugManifest& manifest);
  void add(const SmdebugTestStep& step);
  void add_steps(std::int64_t first, std::int64_t last, const std::vector<std::string>& workers = {"worker_0"});
  void put(const std::string& path, std::string content) { storage_->set_content(path, std::move(content)); }
  void end();  // the marker

  std::shared_ptr<storage::MemoryStorage> storage() const { return storage_; }
  std::unique_ptr<Trial> open(const TrialOptions& options = {}) const;
  void copy_to(const std::filesystem::path& folder) const;

 private:
  std::shared_ptr<storage::MemoryStorage> storage_;
};

}  // namespace trainwarden
