// What a training needs to go on in another process: one folder for each checkpoint, there whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "training/named_tensors.h"

namespace bert {

struct Checkpoint {
  std::int64_t step = 0;  // steps made
  // By what they belong to: "model", "optimizer", "scaler" and what a program adds.
  std::map<std::string, NamedTensors> sections;
  std::map<std::string, std::int64_t> counters;  // such as epochs
  std::map<std::string, std::string> texts;      // such as the options of the run

  // Throws std::runtime_error where there is no such section.
  const NamedTensors& section(const std::string& name) const;
};

// FOLDER/step-0000001200/manifest.json says what lies where in FOLDER/step-0000001200/tensors.bin: raw numbers, little
// endian, C order, one tensor after the other. The manifest has the CRC-32 of the tensors' bytes and its own last line
// is that of what comes before it.
//
// Writes a folder of another name beside it, flushes it to disk and renames it. Of the checkpoints that are there then,
// the newest `kept` stay (1 or more). A checkpoint of the same step is replaced. Tensors of any strided type; those of
// an accelerator are copied. Throws std::runtime_error that names the file. For one process at a time.
std::filesystem::path save_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& folder, int kept = 2);

// Reads one. What it says is not trusted: sizes, types and places are checked against the files before memory is taken.
// Throws std::runtime_error that says what is wrong with which file.
Checkpoint read_checkpoint(const std::filesystem::path& checkpoint);

struct FoundCheckpoint {
  std::optional<Checkpoint> checkpoint;  // the newest that is whole, if any
  std::filesystem::path path;
  std::vector<std::pair<std::filesystem::path, std::string>> refused;  // newer ones, and why
};

// Of `folder`, which need not be there. Throws std::runtime_error only where the folder cannot be listed.
FoundCheckpoint find_newest_checkpoint(const std::filesystem::path& folder);

// Where a job's checkpoints belong: TRAINWARDEN_CHECKPOINT_DIR, if it is set and not empty.
std::optional<std::filesystem::path> checkpoint_folder_of_job();

}  // namespace bert
