// The names of the signals: what a training program does, besides tensors (docs/format/signals.md).
#pragma once

#include <string_view>

namespace trainwarden::rules::signals {

inline constexpr std::string_view kCollection = "signals";

// Scalars.
inline constexpr std::string_view kLearningRate = "trainwarden/learning_rate/";  // and the number of the group
inline constexpr std::string_view kStaleGradients = "trainwarden/stale_gradients";
inline constexpr std::string_view kCalledInTrain = "trainwarden/called_in_train";
inline constexpr std::string_view kCalledInEval = "trainwarden/called_in_eval";
inline constexpr std::string_view kAmpScale = "trainwarden/amp/scale";
inline constexpr std::string_view kAmpSkipped = "trainwarden/amp/skipped";
inline constexpr std::string_view kClipNorm = "trainwarden/clip/norm";
inline constexpr std::string_view kClipLimit = "trainwarden/clip/limit";
inline constexpr std::string_view kHostBytes = "trainwarden/memory/host_bytes";
inline constexpr std::string_view kDeviceBytes = "trainwarden/memory/device_bytes";
inline constexpr std::string_view kStepSeconds = "trainwarden/step_seconds";
inline constexpr std::string_view kReplicaDiffers = "trainwarden/replica_differs";
inline constexpr std::string_view kStepTimes = "trainwarden/step_times";
inline constexpr std::string_view kEpoch = "trainwarden/batch/epoch";
inline constexpr std::string_view kBatchNumber = "trainwarden/batch/number";
inline constexpr std::string_view kBatchGroup = "trainwarden/batch/group";

// Tensors.
inline constexpr std::string_view kCalls = "trainwarden/calls";                 // uint8, in the order of the calls
inline constexpr std::string_view kBatchIndices = "trainwarden/batch/indices";  // int64

// What an examination has measured (docs/format/examination.md): no tensors of the program.
inline constexpr std::string_view kExamination = "trainwarden/examination/";
inline constexpr std::string_view kTraining = "trainwarden/examination/training";  // another one begins

// Strings, each a JSON object.
inline constexpr std::string_view kModel = "trainwarden/model";
inline constexpr std::string_view kOptimizer = "trainwarden/optimizer";
inline constexpr std::string_view kBadSamples = "trainwarden/batch/bad_samples";
inline constexpr std::string_view kCheckpoint = "trainwarden/checkpoint";

// The elements of kCalls.
enum class Call : unsigned char {
  kForward = 1,  // of the outermost model, with gradients enabled
  kBackward = 2,
  kStep = 3,      // of an optimizer
  kZeroGrad = 4,  // gradients were set to zero or taken away
  kClip = 5,      // gradients were clipped
  kUnscale = 6,   // gradients were divided by the loss scale
};

}  // namespace trainwarden::rules::signals
