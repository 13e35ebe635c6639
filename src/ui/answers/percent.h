// Text within addresses: every byte but some letters stands as % and two hexadecimal digits.
#pragma once

#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::answers {

std::string encode_percent(std::string_view text);
// "a%20b" as "a b". kInvalidArgument for a broken escape, a zero byte, or bytes that are not UTF-8.
Result<std::string> decode_percent(std::string_view text, bool plus_is_space);

}  // namespace trainwarden::answers
