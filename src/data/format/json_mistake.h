// What is wrong with a text that should be JSON.
#pragma once

#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::format {

// kDataLoss with the first place at which `text` is no JSON: "job.json: not well-formed JSON: line 2, column 7:
// unexpected '}'; expected string literal". `what` names the text. Reads it a second time: for texts that were refused.
Status not_well_formed(std::string_view text, std::string_view what);

}  // namespace trainwarden::format
