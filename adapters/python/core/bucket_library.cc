#include "bucket_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include <nanobind/nanobind.h>

#include "store/storage/location.h"
#include "store/storage/unreachable_storage.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;

Status unusable(const std::string& file, const std::string& why) {
  return Status(Code::kUnimplemented, "buckets cannot be reached: " + file + ": " + why +
                                          "; install the package trainwarden anew, or read the run with the program "
                                          "trainwarden");
}

// Beside this module.
std::string library_file() {
  Dl_info info{};
  ::dladdr(reinterpret_cast<const void*>(&use_bucket_library), &info);
  return (std::filesystem::path(info.dli_fname == nullptr ? "" : info.dli_fname).parent_path() / kBucketLibrary)
      .string();
}

// By functions in C: where Python runs, it would run the handler.
bool leaves_on_interrupt() {
  const nb::module_ signals = nb::module_::import_("_signal");
  return signals.attr("getsignal")(SIGINT).is(signals.attr("default_int_handler"));
}

// Has Ctrl-C been pressed, and does it mean that the program leaves what it does? The handler does not run here, in the
// midst of a call, but as soon as Python goes on: the signal is put back.
bool is_interrupted_by_user() {
  if (::gettid() != ::getpid()) return false;  // handlers run in the main thread
  const nb::gil_scoped_acquire gil;
  if (PyOS_InterruptOccurred() == 0) return false;
  const bool leaves = leaves_on_interrupt();
  PyErr_SetInterrupt();
  return leaves;
}

Result<const BucketLibrary*> load_library() {
  const std::string file = library_file();
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    return unusable(file, why == nullptr ? "it cannot be loaded" : why);
  }
  auto* const entry = reinterpret_cast<BucketEntry*>(::dlsym(library, kBucketEntry));
  const BucketLibrary* const buckets = entry == nullptr ? nullptr : entry();
  if (buckets == nullptr || std::string_view(buckets->build) != kBucketBuild) {
    return unusable(file, "it is of another build than the core beside it");
  }
  buckets->set_interruption(is_interrupted_by_user);
  return buckets;
}

std::shared_ptr<storage::Storage> open_bucket(const std::string& address) {
  static const Result<const BucketLibrary*> library = load_library();
  if (!library.ok()) return storage::create_unreachable_storage(library.status());
  return (*library)->open(address);
}

}  // namespace

void use_bucket_library() {
  storage::set_bucket_storage(open_bucket);
}

}  // namespace trainwarden::python
