// Finds and loads libtrainwarden_torch_attach.so.
#include "attach_library.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "loaded_libraries.h"

namespace trainwarden::preload {
namespace {

constexpr const char* kLibrary = "libtrainwarden_torch_attach.so";

const AttachCalls* taken_calls = nullptr;

bool is_set_to(const char* variable, const char* value) {
  const char* found = getenv(variable);
  return found != nullptr && strcmp(found, value) == 0;
}

// The Python adapter looks after those, also where an extension trains in C++.
bool is_python() {
  char path[PATH_MAX] = {};
  if (readlink("/proc/self/exe", path, sizeof path - 1) <= 0) return false;
  const char* slash = strrchr(path, '/');
  return slash != nullptr && (strncmp(slash + 1, "python", 6) == 0 || strncmp(slash + 1, "pypy", 4) == 0);
}

// A program that links libtrainwarden opens its own hook, or has decided not to.
bool is_to_be_watched() {
  return is_set_to("TRAINWARDEN_ATTACH", "1") && !is_set_to("TRAINWARDEN", "0") && !is_python() &&
         !find_loaded_library("libtrainwarden.so").found;
}

// Into the global scope, so that the attached library, which names no LibTorch that it needs, finds the program's.
void show_torch() {
  constexpr const char* kLibraries[] = {"libc10.so", "libtorch_cpu.so", "libtorch.so"};
  for (const char* name : kLibraries) {
    const LoadedLibrary library = find_loaded_library(name);
    if (library.found) dlopen(library.path, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  }
}

// What TRAINWARDEN_ATTACH_LIBRARY names, else the one beside this library.
bool find_attach_library(char (&path)[PATH_MAX]) {
  const char* named = getenv("TRAINWARDEN_ATTACH_LIBRARY");
  if (named != nullptr && *named != '\0') {
    snprintf(path, sizeof path, "%s", named);
    return true;
  }
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&attach_calls), &self) == 0 || self.dli_fname == nullptr) return false;
  const char* slash = strrchr(self.dli_fname, '/');
  if (slash == nullptr) return false;
  const int folder_bytes = static_cast<int>(slash + 1 - self.dli_fname);
  const int bytes = snprintf(path, sizeof path, "%.*s%s", folder_bytes, self.dli_fname, kLibrary);
  return bytes > 0 && static_cast<size_t>(bytes) < sizeof path;
}

void attach() {
  if (!is_to_be_watched()) return;
  show_torch();
  char path[PATH_MAX];
  if (!find_attach_library(path)) return print_error("nothing is captured: there is no path to ", kLibrary, "");
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return print_error("nothing is captured; the program goes on. The library for LibTorch programs does not load: ",
                       reason != nullptr ? reason : path,
                       ". It must be built against the same LibTorch as the program: cmake -DTorch_DIR=...");
  }
  const auto entry = reinterpret_cast<AttachEntry>(dlsym(library, kAttachEntry));
  if (entry == nullptr) return print_error("nothing is captured: ", path, " is not of this version of Trainwarden");
  taken_calls = entry();
}

}  // namespace

const AttachCalls* attach_calls() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, attach);
  return taken_calls;
}

}  // namespace trainwarden::preload
