// How a training failed, in a few words.
#pragma once

#include <string>

#include "trainwarden/trial.h"

namespace trainwarden::views {

// "exit code 1", "signal 9 (Killed)"; empty where it did not fail, has not ended, or its journals cannot be read. One
// that was asked to stop has not failed.
std::string failure_of(Trial& trial);

}  // namespace trainwarden::views
