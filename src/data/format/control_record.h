// Control records: requests to the training process, put as files into the run's control/ folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::format {

inline constexpr const char* kControlFolder = "control";
// Made by a worker that has a black box, before its first step; each dump is a folder in it.
inline constexpr const char* kBlackBoxFolder = "blackbox";
// What workers save on request lies here, unless the program has a place of its own.
inline constexpr const char* kCheckpointFolder = "checkpoints";

struct StopRequest {
  std::string key;           // idempotency key; the file is control/stop-<key>.json
  std::string reason;        // "VanishingGradient fired at step 120: ..."
  std::string requested_by;  // "watch-0", "user"
  std::int64_t unix_ns = 0;
  friend bool operator==(const StopRequest&, const StopRequest&) = default;
};

// What is to be captured from now on.
struct CaptureRequest {
  std::string key;      // the file is control/capture-<key>.json
  std::string options;  // JSON, keys of the hook's configuration (docs/reference/config.md)
  std::vector<std::string> exclude_collections;
  bool only = false;   // nothing but what `options` names
  bool reset = false;  // start from what the hook was opened with, not from what is captured now
  std::string requested_by;
  std::int64_t unix_ns = 0;
  friend bool operator==(const CaptureRequest&, const CaptureRequest&) = default;
};

// Somebody wants to know what led to a failure: the hook's black box is to be written.
struct BlackBoxRequest {
  std::string key;                // the file is control/blackbox-<key>.json
  std::string reason;             // "NaNLoss fired at step 120: ..."
  std::string rule;               // the rule's id; empty when a person asks
  std::int64_t global_step = -1;  // of the failure; -1: now
  std::string requested_by;       // "watch-0", "user"
  std::int64_t unix_ns = 0;
  friend bool operator==(const BlackBoxRequest&, const BlackBoxRequest&) = default;
};

// Somebody wants the training's state saved now, so that it can go on from there.
struct CheckpointRequestRecord {
  std::string key;                // the file is control/checkpoint-<key>.json
  std::string reason;             // "LossNotDecreasing fired at step 120: ..."
  std::string rule;               // the rule's id; empty when a person asks
  std::int64_t global_step = -1;  // that the reason speaks of; -1: none
  std::string requested_by;       // "watch-0", "user"
  std::int64_t unix_ns = 0;
  friend bool operator==(const CheckpointRequestRecord&, const CheckpointRequestRecord&) = default;
};

// Somebody wants to know which operators run in some steps.
struct ProfileRequest {
  std::string key;               // the file is control/profile-<key>.json
  std::int64_t first_step = -1;  // global; a worker that is beyond it, or -1: its next one
  std::int64_t steps = 1;
  std::string requested_by;  // "user"
  std::int64_t unix_ns = 0;
  friend bool operator==(const ProfileRequest&, const ProfileRequest&) = default;
};
inline constexpr std::int64_t kMaxProfileSteps = 10'000;

// Somebody wants the next train steps examined for a diagnosis (docs/format/examination.md), whatever is left of the
// examination's allowance. It has no answer: what was measured is in the run.
struct ExamineRequest {
  std::string key;           // the file is control/examine-<key>.json
  std::string reason;        // "it may be the learning rate or the initialisation"
  std::int64_t steps = 1;    // train steps, one after the other
  std::string requested_by;  // "watch-0", "user"
  std::int64_t unix_ns = 0;
  friend bool operator==(const ExamineRequest&, const ExamineRequest&) = default;
};
inline constexpr std::int64_t kMaxExamineSteps = 100;

std::string examine_request_path(std::string_view key);
bool is_examine_request_file(std::string_view file_name);
std::string encode_examine_request(const ExamineRequest& request);
// kDataLoss also where `steps` is not in [1, kMaxExamineSteps].
Result<ExamineRequest> decode_examine_request(std::string_view json);

std::string profile_request_path(std::string_view key);
bool is_profile_request_file(std::string_view file_name);
std::string encode_profile_request(const ProfileRequest& request);
// kDataLoss also where `steps` is not in [1, kMaxProfileSteps].
Result<ProfileRequest> decode_profile_request(std::string_view json);

std::string checkpoint_request_path(std::string_view key);
bool is_checkpoint_request_file(std::string_view file_name);
std::string encode_checkpoint_request(const CheckpointRequestRecord& request);
Result<CheckpointRequestRecord> decode_checkpoint_request(std::string_view json);

std::string black_box_request_path(std::string_view key);
bool is_black_box_request_file(std::string_view file_name);
std::string encode_black_box_request(const BlackBoxRequest& request);
Result<BlackBoxRequest> decode_black_box_request(std::string_view json);

std::string capture_request_path(std::string_view key);
bool is_capture_request_file(std::string_view file_name);
std::string encode_capture_request(const CaptureRequest& request);  // `options` must be a JSON object
Result<CaptureRequest> decode_capture_request(std::string_view json);

std::string stop_request_path(std::string_view key);
bool is_stop_request_file(std::string_view file_name);
std::string encode_stop_request(const StopRequest& request);
Result<StopRequest> decode_stop_request(std::string_view json);

}  // namespace trainwarden::format
