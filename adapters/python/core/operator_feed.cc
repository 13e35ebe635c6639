// Operator feed: callbacks of ours in the at::RecordFunction of the LibTorch that the process has loaded.
//
// LibTorch's functions are found by name in the library, and what they take is mirrored here. Both are the same in all
// versions that kKnown lists: checked in the headers of 1.13.1 and 2.15.0, between which members were added to
// RecordFunction behind those that are read here alone. A version that is not listed is left alone. That the mirror is
// right in this process is seen before anything is recorded: a call with a known name must come as what it is.
#include "operator_feed.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "python_hook.h"
#include "trainwarden/operator_recorder.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;

struct Versions {
  int major;
  int first_minor;
  int last_minor;
};
constexpr Versions kKnown[] = {{1, 13, 13}, {2, 1, 15}};

// The mirror.

class RecordFunction;  // of at; only its address is used

class ObserverContext {  // what a start callback may give; ours give none
 public:
  virtual ~ObserverContext() = default;
};

using StartCallback = std::unique_ptr<ObserverContext> (*)(const RecordFunction&);
using EndCallback = void (*)(const RecordFunction&, ObserverContext*);

enum class Scope : std::uint8_t { kFunction = 0, kBackwardFunction = 1, kUserScope = 7 };
constexpr std::size_t kScopes = 10;

struct RecordFunctionCallback {
  StartCallback start = nullptr;
  EndCallback end = nullptr;
  double sampling_probability = 1;
  std::array<bool, kScopes> scopes{};
  bool needs_inputs = false;
  bool needs_outputs = false;
  bool needs_ids = false;
};
static_assert(sizeof(RecordFunctionCallback) == 40 && offsetof(RecordFunctionCallback, scopes) == 24);

constexpr std::size_t kSequenceOffset = 200;  // of an int64 in RecordFunction

// The functions of the library; empty where there is none that has them all.
struct Library {
  std::uint64_t (*add_global_callback)(RecordFunctionCallback) = nullptr;
  void (*remove_callback)(std::uint64_t) = nullptr;
  const char* (*name)(const RecordFunction&) = nullptr;
  void (*enable)(bool) = nullptr;  // of this thread: are callbacks called, the program's too?
  bool (*is_enabled)() = nullptr;

  bool found() const { return add_global_callback != nullptr && remove_callback != nullptr && name != nullptr; }
};
Library library;  // before the first callback is added; then it stays

// Finding the library.

struct LoadedLibraries {
  std::string path;
  int count = 0;
};

int look_at_library(dl_phdr_info* info, std::size_t, void* data) {
  auto& loaded = *static_cast<LoadedLibraries*>(data);
  const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (!file.starts_with("libtorch_cpu.so")) return 0;
  loaded.path = path;
  ++loaded.count;
  return 0;
}

template <class Function>
void find_function(void* handle, const char* symbol, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(handle, symbol));
}

// Of two libraries nobody can say which one runs the operators.
Library find_library() {
  LoadedLibraries loaded;
  ::dl_iterate_phdr(look_at_library, &loaded);
  if (loaded.count != 1) return {};
  void* const handle = ::dlopen(loaded.path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return {};
  Library found;
  find_function(handle, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE", found.add_global_callback);
  find_function(handle, "_ZN2at14removeCallbackEm", found.remove_callback);
  find_function(handle, "_ZNK2at14RecordFunction4nameEv", found.name);
  find_function(handle, "_ZN2at20enableRecordFunctionEb", found.enable);
  find_function(handle, "_ZN2at23isRecordFunctionEnabledEv", found.is_enabled);
  return found;  // the handle stays: so does the library
}

// Callbacks.

std::atomic<OperatorRecorder*> fed_recorder = nullptr;
std::array<std::uint64_t, 3> callback_handles{};  // these two with the GIL
std::uint64_t turns = 0;                          // how often a hook has begun to be told

// What a check expects, and has seen; with the GIL.
constexpr const char* kCheckName = "trainwarden::check";
std::atomic<bool> is_checking = false;
std::atomic<int> checks_seen = 0;
std::atomic<int> checks_wrong = 0;

std::int64_t sequence_of(const RecordFunction& function) {
  std::int64_t sequence = -1;
  std::memcpy(&sequence, reinterpret_cast<const char*>(&function) + kSequenceOffset, sizeof sequence);
  return sequence;
}

// A stretch that is named so belongs to no operator, and has no number.
void check(OperatorKind kind, const RecordFunction& function) {
  if (std::strcmp(library.name(function), kCheckName) != 0) return;
  checks_seen.fetch_add(1);
  if (kind != OperatorKind::kUser || sequence_of(function) != -1) checks_wrong.fetch_add(1);
}

template <OperatorKind kind>
std::unique_ptr<ObserverContext> operator_begins(const RecordFunction& function) {
  if (is_checking.load(std::memory_order_relaxed)) {
    check(kind, function);
  } else if (OperatorRecorder* const recorder = fed_recorder.load(std::memory_order_acquire)) {
    recorder->begin(&function, library.name(function), kind, sequence_of(function));
  }
  return nullptr;
}

void operator_ends(const RecordFunction& function, ObserverContext*) {
  if (OperatorRecorder* const recorder = fed_recorder.load(std::memory_order_acquire)) recorder->end(&function);
}

template <OperatorKind kind>
std::uint64_t add_callback(Scope scope) {
  RecordFunctionCallback callback{.start = operator_begins<kind>, .end = operator_ends};
  callback.scopes[static_cast<std::size_t>(scope)] = true;
  return library.add_global_callback(callback);
}

void add_callbacks() {
  callback_handles = {add_callback<OperatorKind::kOperator>(Scope::kFunction),
                      add_callback<OperatorKind::kBackward>(Scope::kBackwardFunction),
                      add_callback<OperatorKind::kUser>(Scope::kUserScope)};
}

void remove_callbacks() {
  for (std::uint64_t& handle : callback_handles) {
    if (handle != 0) library.remove_callback(handle);
    handle = 0;
  }
}

// For Python.

bool is_known(int major, int minor) {
  for (const Versions& known : kKnown) {
    if (major == known.major && minor >= known.first_minor && minor <= known.last_minor) return true;
  }
  return false;
}

std::string prepare(int major, int minor, const nb::callable& run_named) {
  if (!is_known(major, minor)) {
    return "operators: PyTorch " + std::to_string(major) + "." + std::to_string(minor) +
           " is not known to this version of Trainwarden";
  }
  if (!library.found()) library = find_library();
  if (!library.found()) return "operators: the process has no libtorch_cpu.so whose functions are known";
  checks_seen = 0;
  checks_wrong = 0;
  is_checking = true;
  add_callbacks();
  try {
    run_named(kCheckName);
  } catch (...) {
    remove_callbacks();
    is_checking = false;
    throw;
  }
  remove_callbacks();
  is_checking = false;
  if (checks_seen == 1 && checks_wrong == 0) return "";
  return "operators: this build of PyTorch reports them in another way than its version does elsewhere";
}

// A hook whose steps are over, or that is closed, gives its place away.
std::uint64_t feed_operators(PythonHook& hook) {
  const OperatorRecorder* const before = fed_recorder.load(std::memory_order_acquire);
  if (before != nullptr && before->is_recording()) return 0;
  fed_recorder.store(&hook.hook().operators(), std::memory_order_release);
  if (before == nullptr) add_callbacks();
  return ++turns;
}

// Threads that are inside an operator end it afterwards: our functions and the recorder are still there.
void end_feeding(std::uint64_t turn) {
  if (turn != turns || fed_recorder.load(std::memory_order_relaxed) == nullptr) return;
  remove_callbacks();
  fed_recorder.store(nullptr, std::memory_order_release);
}

// Without the library, or in a version that is not known, operators of ours stay in sight.
bool hide_operators() {
  static const bool is_there = [] {
    if (!library.found()) library = find_library();
    return library.enable != nullptr && library.is_enabled != nullptr;
  }();
  if (!is_there || !library.is_enabled()) return false;
  library.enable(false);
  return true;
}

void show_operators() {
  library.enable(true);
}

}  // namespace

void bind_operator_feed(nb::module_& module) {
  module.def(
      "prepare_operators", prepare, nb::arg("major"), nb::arg("minor"), nb::arg("run_named"),
      nb::sig("def prepare_operators(major: int, minor: int, run_named: collections.abc.Callable[[str], object]) "
              "-> str"),
      "Finds the functions of the PyTorch of this version. run_named(name) runs a stretch of that name with "
      "record_function. Gives why operators cannot be recorded, or nothing.");
  module.def("feed_operators", feed_operators, nb::arg("hook"),
             "After prepare_operators(): from now on the hook is told of the operators that run, on all threads. Gives "
             "the number of its turn, for end_feeding(); 0: it is another hook's.");
  module.def(
      "hide_operators", hide_operators,
      "From now on no profiler is told of what this thread runs, until show_operators(). False: it is told already "
      "of nothing, or cannot be kept from it; then show_operators() must not be called.");
  module.def("show_operators", show_operators, "After hide_operators() gave True.");
  module.def("end_feeding", end_feeding, nb::arg("turn"), "Nobody is told any more, if it is still this turn.");
}

}  // namespace trainwarden::python
