// Walks the loader's list.
#include "loaded_libraries.h"

#include <cstdio>
#include <cstring>

#include <link.h>
#include <unistd.h>

namespace trainwarden::preload {
namespace {

struct Search {
  const char* prefix;
  LoadedLibrary result;
};

int look_at(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* file = slash != nullptr ? slash + 1 : info->dlpi_name;
  if (strncmp(file, search.prefix, strlen(search.prefix)) != 0) return 0;
  search.result.found = true;
  snprintf(search.result.path, sizeof search.result.path, "%s", info->dlpi_name);
  return 1;
}

}  // namespace

LoadedLibrary find_loaded_library(const char* prefix) {
  Search search{prefix, {}};
  dl_iterate_phdr(look_at, &search);
  return search.result;
}

void print_error(const char* begin, const char* middle, const char* end) {
  char line[2 * PATH_MAX];
  const int length = snprintf(line, sizeof line, "trainwarden: warning: %s%s%s\n", begin, middle, end);
  const size_t bytes = length < 0                                  ? 0
                       : static_cast<size_t>(length) < sizeof line ? static_cast<size_t>(length)
                                                                   : sizeof line - 1;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, bytes);
}

}  // namespace trainwarden::preload
