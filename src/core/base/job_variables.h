// The environment variables of jobs: what is read when one is submitted, and what its program finds.
// Each name is there once, with who sets it, who reads it, and the form of its value.
#pragma once

namespace trainwarden::variable {

inline constexpr const char* kSshHosts = "TRAINWARDEN_SSH_HOSTS";  // hosts with commas; `submit --backend ssh`

// The program of a job finds these in its environment.
inline constexpr const char* kJobName = "TRAINWARDEN_JOB";     // the job's name
inline constexpr const char* kJobDir = "TRAINWARDEN_JOB_DIR";  // its folder, whole; by it a job's processes are known
inline constexpr const char* kJobAttempt = "TRAINWARDEN_JOB_ATTEMPT";        // 1, 2, ...
inline constexpr const char* kCheckpointDir = "TRAINWARDEN_CHECKPOINT_DIR";  // a folder; so for both of these
inline constexpr const char* kModelDir = "TRAINWARDEN_MODEL_DIR";
inline constexpr const char* kOutputDir = "TRAINWARDEN_OUTPUT_DIR";

// When its job belongs to an experiment, TRAINWARDEN_EXPERIMENTS and:
inline constexpr const char* kComponent = "TRAINWARDEN_COMPONENT";  // the component that its job is

}  // namespace trainwarden::variable
