// The environment variables that a program finds which an action starts.
// Each name is there once, with who sets it, who reads it, and the form of its value.
#pragma once

namespace trainwarden::variable {

// A program that an action starts finds these in its environment (docs/reference/builtin-actions.md, "exec").
inline constexpr const char* kRun = "TRAINWARDEN_RUN";                   // the run's name
inline constexpr const char* kRunPath = "TRAINWARDEN_RUN_PATH";          // its folder
inline constexpr const char* kEventId = "TRAINWARDEN_EVENT_ID";          // of the CloudEvent
inline constexpr const char* kEventKey = "TRAINWARDEN_EVENT_KEY";        // the same for each attempt
inline constexpr const char* kEventType = "TRAINWARDEN_EVENT_TYPE";      // of the CloudEvent
inline constexpr const char* kRule = "TRAINWARDEN_RULE";                 // its id; empty: of no rule
inline constexpr const char* kStep = "TRAINWARDEN_STEP";                 // the global step; empty: of none
inline constexpr const char* kAttempt = "TRAINWARDEN_ATTEMPT";           // 1, 2, ...
inline constexpr const char* kHandlerKept = "TRAINWARDEN_HANDLER_KEPT";  // 1: it is asked again and again

}  // namespace trainwarden::variable
