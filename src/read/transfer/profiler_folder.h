// Profiler folder: what SageMaker's profiler has left in a folder, file by file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/foreign/smdebug_profile_layout.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::transfer {

struct ProfilerFile {
  std::string path;
  std::string node;                // "algo-1", "4487-host"
  std::int64_t order = 0;          // files of a node are read by this, then by name
  std::int64_t step = -1;          // of a trace of TensorFlow
  std::int64_t begin_unix_us = 0;  // of a trace of TensorFlow; 0: not known
  foreign::SmdebugTimeline timeline = foreign::SmdebugTimeline::kPython;
};

struct ProfilerFolder {
  std::vector<ProfilerFile> system;     // by node and time
  std::vector<ProfilerFile> timelines;  // the same; of the framework
  std::vector<ProfilerFile> traces;     // of TensorFlow's profiler
  std::uint64_t python_profiles = 0;    // statistics of cProfile and pyinstrument, which are not read
  std::uint64_t unknown = 0;            // files that are none of these
  bool ended = false;                   // the training has, says the folder
};

// Below `root`, "" or "profiler-output".
bool holds_profiler_output(const storage::Storage& storage, const std::string& root);
// Links are not followed. kResourceExhausted for more files than a training could leave.
Result<ProfilerFolder> list_profiler_folder(const storage::Storage& storage, const std::string& root);

// "algo-2" before "algo-10".
bool node_before(const std::string& a, const std::string& b);

}  // namespace trainwarden::transfer
