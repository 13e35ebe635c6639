// What machine and training do now, as a line each.
#pragma once

#include <string>

#include "ui/views/profile/profile_now.h"

namespace trainwarden::cli {

// "processors 45 %, memory 60 %, GPU-0 12 %"; "" when nothing was sampled.
std::string machine_text(const views::ProfileNow& now);
// "data_wait 60 %, forward 20 %, backward 15 %"; "" when no step was divided.
std::string phases_text(const views::ProfileNow& now);

}  // namespace trainwarden::cli
