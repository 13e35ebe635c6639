// The names in a folder that smdebug wrote: files, workers, reductions. Paths are relative to the folder.
//
//   collections/000000000/<worker>_collections.json      events/<step12>/<step12>_<worker>.tfevents
//   index/<step div 1000, 9 digits>/<step12>_<worker>.json (or .csv)      training_job_end.ts
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwarden/mode.h"
#include "trainwarden/reduction.h"

namespace trainwarden::foreign {

inline constexpr std::string_view kSmdebugManifestFolder = "collections/000000000";
inline constexpr std::string_view kSmdebugIndexFolder = "index";
inline constexpr std::string_view kSmdebugEndMarker = "training_job_end.ts";
inline constexpr std::int64_t kSmdebugStepsPerFolder = 1000;

std::string_view smdebug_mode_name(Mode mode);  // "TRAIN", "EVAL", "PREDICT", "GLOBAL"

std::string smdebug_manifest_file(std::string_view worker);
std::string smdebug_index_folder(std::int64_t step);  // "index/000000001" for 1000 to 1999
std::string smdebug_index_file(std::int64_t step, std::string_view worker);
std::string smdebug_event_file(std::int64_t step, std::string_view worker);

// "worker_0" of "worker_0_collections.json" (or .ts); none for other files, .tmp among them.
std::optional<std::string> worker_of_manifest(std::string_view file_name);
// 1 of "000000001", none for other names.
std::optional<std::int64_t> number_of_index_folder(std::string_view folder_name);

struct SmdebugIndexName {
  std::int64_t step = 0;
  std::string_view worker;  // as in the file's name, which it is a part of
};
// Of "000000001000_worker_0.json" or .csv; none for other files, .tmp among them.
std::optional<SmdebugIndexName> parse_smdebug_index_name(std::string_view file_name);

// A worker's name as it stands in file names, and back: "/job:worker/replica:0" is "_job-worker_replica-0".
std::string serialise_worker(std::string_view worker);
std::string deserialise_worker(std::string_view worker);

// The tag of a saved reduction: "smdebug/reductions/abs_mean/gradient/Net_fc.weight", "smdebug/reductions/l2/...".
struct SmdebugReduction {
  Reduction reduction = Reduction::kMean;
  bool abs = false;
  std::string_view tensor;
};
std::string smdebug_reduction_tag(const SmdebugReduction& reduction);
std::optional<SmdebugReduction> parse_smdebug_reduction_tag(std::string_view tag);  // none: an ordinary name

}  // namespace trainwarden::foreign
