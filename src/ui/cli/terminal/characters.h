// Characters on a terminal: how many cells they take, and their bytes.
#pragma once

#include <string>
#include <string_view>

namespace trainwarden::cli {

// 0 for what joins the character before it, 2 for wide ones (East Asian Width W and F of Unicode 14, emoji), else 1.
// Control characters take 1: they are shown by a stand-in.
int cell_width(char32_t character);
// Of a whole text, in UTF-8.
int text_cells(std::string_view utf8);

std::string to_utf8(std::u32string_view text);

}  // namespace trainwarden::cli
