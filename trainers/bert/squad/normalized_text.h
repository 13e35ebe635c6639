// What evaluation compares: words of an answer without what does not matter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bert {

// normalize_answer() of the official evaluation scripts: small letters, no ASCII punctuation, no "a", "an" and "the",
// split at spaces; letters, ends of words and spaces as Python 3 sees them in Unicode (ICU has the tables). In UTF-8.
std::vector<std::string> normalized_words(std::string_view answer);

}  // namespace bert
