// The files of the page, as they lie in the program.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace trainwarden::page {

struct File {
  std::string_view path;  // "index.html", "assets/index-B4x1.js"
  std::string_view type;  // "text/html; charset=utf-8"
  std::string_view gzip;  // its bytes, compressed
  std::size_t bytes = 0;  // how many they are when they are not
  bool hashed = false;    // its name changes when it does, so it may be cached for ever
};

std::span<const File> files();

}  // namespace trainwarden::page
