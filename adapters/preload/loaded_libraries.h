// The libraries of this process, and a line on standard error; with the C library only.
#pragma once

#include <climits>

namespace trainwarden::preload {

struct LoadedLibrary {
  bool found = false;
  char path[PATH_MAX] = {};
};
// The first library whose file name begins with `prefix`: "libtorch_cpu.so" finds libtorch_cpu.so.1.13, too.
LoadedLibrary find_loaded_library(const char* prefix);

// "trainwarden: warning: " and the three texts.
void print_error(const char* begin, const char* middle, const char* end);

}  // namespace trainwarden::preload
