// The files of the page, as the program carries them, compressed.
#pragma once

#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::page {
struct File;
}

namespace trainwarden::answers {

// Null for a path that is no file of the page.
const page::File* find_page_file(std::string_view path);
Result<std::string> decompress(const page::File& file);

}  // namespace trainwarden::answers
