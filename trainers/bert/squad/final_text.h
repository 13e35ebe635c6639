// From pieces of a model back to the text that a person wrote.
#pragma once

#include <string>
#include <string_view>

#include "text/folding.h"

namespace bert {

// The part of `original` that is `folded`: what basic words make of `original` is searched for `folded`, and its first
// and last character are found again in `original` by counting characters that are no spaces; get_final_text() of
// run_squad.py (Devlin et al. 2018). Where that does not come out, as with letters that become several, all of
// `original`.
std::string final_text(std::string_view folded, std::string_view original, const Folding& folding);

}  // namespace bert
