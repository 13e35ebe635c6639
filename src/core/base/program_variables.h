// The environment variables of our programs and libraries: what any of them reads, and where they lie in unusual
// places. Each name is there once, with who sets it, who reads it, and the form of its value.
#pragma once

namespace trainwarden::variable {

// Any of our programs and libraries reads these.
inline constexpr const char* kReadBudget = "TRAINWARDEN_READ_BUDGET";  // a factor of all limits of readers
inline constexpr const char* kLogLevel = "TRAINWARDEN_LOG_LEVEL";      // debug, info, warning, error, off
inline constexpr const char* kStrict = "TRAINWARDEN_STRICT";  // a switch: an error that is logged aborts; for tests
inline constexpr const char* kSecretPatterns = "TRAINWARDEN_SECRET_PATTERNS";  // a file of patterns
inline constexpr const char* kNvrtc = "TRAINWARDEN_NVRTC";                     // the path of the compiler of kernels

// Programs and libraries of ours in unusual places.
inline constexpr const char* kProgram = "TRAINWARDEN_PROGRAM";                 // `trainwarden`; who hosts rules
inline constexpr const char* kPython = "TRAINWARDEN_PYTHON";                   // Python with the package; the same
inline constexpr const char* kPreloadLibrary = "TRAINWARDEN_PRELOAD_LIBRARY";  // `run --attach preload`
inline constexpr const char* kAttachLibrary = "TRAINWARDEN_ATTACH_LIBRARY";    // the preload library reads it
inline constexpr const char* kDemoProgram = "TRAINWARDEN_DEMO_PROGRAM";        // `demo`

}  // namespace trainwarden::variable
