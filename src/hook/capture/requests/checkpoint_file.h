// Checkpoint files: how a worker puts one into the run's folder, and how one is reported, wherever it lies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::capture {

// Where a checkpoint is to go.
struct CheckpointName {
  std::filesystem::path run_dir;
  std::int64_t step = 0;
  int rank = 0;
  std::string_view ending;  // ".pt"
};

// Has `write` write a file beside its place, syncs it and links it to its name, which no other file has: it is there
// whole or not at all. One thread and process at a time for each rank of a run. What `write` throws becomes a Status.
Result<std::filesystem::path> write_checkpoint_file(const CheckpointName& name,
                                                    const std::function<Status(const std::filesystem::path&)>& write);

// As a checkpoint_saved event describes it.
struct CheckpointPlace {
  std::string path;
  std::int64_t bytes = 0;
};
// kNotFound when there is nothing. A URL (anything with ://) and an empty path are taken as they are.
Result<CheckpointPlace> look_at_checkpoint(const std::filesystem::path& saved, const std::filesystem::path& run_dir);

}  // namespace trainwarden::capture
