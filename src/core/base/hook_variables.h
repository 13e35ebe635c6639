// The environment variables of what a training process loads: what is captured, and what judges inside it.
// Each name is there once, with who sets it, who reads it, and the form of its value.
#pragma once

namespace trainwarden::variable {

// These say what is captured. The hook reads them (docs/reference/config.md); `run` and `demo` set those that have an
// option.
inline constexpr const char* kSwitch = "TRAINWARDEN";           // 0: no hook captures anything
inline constexpr const char* kRunDir = "TRAINWARDEN_RUN_DIR";   // a folder; `run` always sets it
inline constexpr const char* kConfig = "TRAINWARDEN_CONFIG";    // a file: our JSON or smdebug's
inline constexpr const char* kBudget = "TRAINWARDEN_BUDGET";    // a share of time: "1%" or "0.01"
inline constexpr const char* kInclude = "TRAINWARDEN_INCLUDE";  // a regular expression of names
inline constexpr const char* kIncludeCollections = "TRAINWARDEN_INCLUDE_COLLECTIONS";  // names with commas
inline constexpr const char* kSaveInterval = "TRAINWARDEN_SAVE_INTERVAL";              // a number of steps
inline constexpr const char* kSaveAll = "TRAINWARDEN_SAVE_ALL";                        // a switch: 0 or 1
inline constexpr const char* kKeep = "TRAINWARDEN_KEEP";                               // keep forms with commas
inline constexpr const char* kIncludeWorkers = "TRAINWARDEN_INCLUDE_WORKERS";          // one or all
inline constexpr const char* kRank = "TRAINWARDEN_RANK";             // a number; launchers' own names come after it
inline constexpr const char* kWorldSize = "TRAINWARDEN_WORLD_SIZE";  // a number
inline constexpr const char* kLabels = "TRAINWARDEN_LABELS";         // a JSON object of texts; `run --label` adds
inline constexpr const char* kTensorboardDir = "TRAINWARDEN_TENSORBOARD_DIR";  // a folder
inline constexpr const char* kStagingBytes = "TRAINWARDEN_STAGING_BYTES";      // "64MiB"
inline constexpr const char* kSegmentBytes = "TRAINWARDEN_SEGMENT_BYTES";      // "64MiB"
inline constexpr const char* kCompress = "TRAINWARDEN_COMPRESS";               // 1 or 0
inline constexpr const char* kMaxRunBytes = "TRAINWARDEN_MAX_RUN_BYTES";       // "20GB"
inline constexpr const char* kMinFreeBytes = "TRAINWARDEN_MIN_FREE_BYTES";     // "1GiB"
inline constexpr const char* kWhenFull = "TRAINWARDEN_WHEN_FULL";              // what happens to what does not fit
inline constexpr const char* kDurability = "TRAINWARDEN_DURABILITY";           // when the disk is waited for
inline constexpr const char* kBlackBox = "TRAINWARDEN_BLACK_BOX";  // a number of steps; `run` sets it with rules
inline constexpr const char* kProfileSteps = "TRAINWARDEN_PROFILE_STEPS";         // "5:15", "auto"; `run` sets it
inline constexpr const char* kPythonStacks = "TRAINWARDEN_PYTHON_STACKS";         // samples a second; a switch
inline constexpr const char* kBlackBoxBytes = "TRAINWARDEN_BLACK_BOX_BYTES";      // "256MiB"
inline constexpr const char* kBlackBoxSampled = "TRAINWARDEN_BLACK_BOX_SAMPLED";  // a switch; `run` sets it with rules
inline constexpr const char* kCheckpointOnRequest = "TRAINWARDEN_CHECKPOINT_ON_REQUEST";  // a switch
inline constexpr const char* kDryRun = "TRAINWARDEN_DRY_RUN";                             // a switch
inline constexpr const char* kCodeVersion = "TRAINWARDEN_CODE_VERSION";                   // a text

// Rules that judge inside the program. The guard reads them; `run` sets them when rules judge inside.
inline constexpr const char* kGuardRules = "TRAINWARDEN_GUARD_RULES";  // specs of rules, one a line
inline constexpr const char* kOnFire = "TRAINWARDEN_ON_FIRE";          // report, stop or skip-step
inline constexpr const char* kMute = "TRAINWARDEN_MUTE";               // keys of verdicts, one a line

// 0: trainings in PyTorch are not examined for a diagnosis (docs/guide/diagnose.md).
inline constexpr const char* kExamine = "TRAINWARDEN_EXAMINE";

// Where TensorFlow compiles the whole loop of a training, something is kept of so many steps of a call.
inline constexpr const char* kLoopSteps = "TRAINWARDEN_LOOP_STEPS";  // a number; on, off

// == We set these for programs that we start; users need not know them.

inline constexpr const char* kAttach = "TRAINWARDEN_ATTACH";    // 1: watch a program without a hook, 0: leave it alone
inline constexpr const char* kNeeds = "TRAINWARDEN_NEEDS";      // `run` to the hook: a JSON list of what rules need
inline constexpr const char* kResume = "TRAINWARDEN_RESUME";    // 1: the hook goes on with a run that has ended
inline constexpr const char* kWatcher = "TRAINWARDEN_WATCHER";  // `run` to the hook: the process id of who judges

}  // namespace trainwarden::variable
