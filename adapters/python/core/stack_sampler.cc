// Stack sampler: in compiled code, so that a sample runs no bytecode: the interpreter switches threads between two of
// them only, and so no function returns, and lets go of what it holds, while a sample holds its frame.
#include "stack_sampler.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python_hook.h"
#include "trainwarden/operator_recorder.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;

constexpr std::size_t kMaxFrames = 1024;        // of a stack, from the innermost on: Python's own limit by default
constexpr std::size_t kMaxPlaces = 8192;        // lines that are known at a time
constexpr std::size_t kMaxSampledThreads = 64;  // the others are left out

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Memory of this process that is its own and resident, as the signal memory/host_bytes has it. The file is opened each
// time, which costs microseconds: a program may close descriptors that it knows nothing of.
std::optional<std::int64_t> own_memory_bytes() {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 128> text{};
  const ssize_t bytes = ::pread(file, text.data(), text.size() - 1, 0);
  ::close(file);
  long size = 0, resident = 0, shared = 0;
  if (bytes <= 0 || std::sscanf(text.data(), "%ld %ld %ld", &size, &resident, &shared) != 3) return std::nullopt;
  return static_cast<std::int64_t>(resident - shared) * ::sysconf(_SC_PAGESIZE);
}

// A line of a function. The code is kept, so that its address is nobody else's.
struct Place {
  PyObject* code = nullptr;
  int line = 0;
  friend bool operator==(const Place&, const Place&) = default;
};
struct PlaceHash {
  std::size_t operator()(const Place& place) const {
    return std::hash<void*>()(place.code) * 31 + static_cast<std::size_t>(place.line);
  }
};
struct Frame {
  std::uint32_t number = 0;
  bool is_ours = false;
};

// Also of what is no UTF-8, as names of files may be.
std::string text_of(nb::handle text) {
  if (!nb::isinstance<nb::str>(text)) return {};
  PyObject* const encoded = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace");
  if (encoded == nullptr) throw nb::python_error();
  const nb::bytes bytes = nb::steal<nb::bytes>(encoded);
  return {bytes.c_str(), bytes.size()};
}

std::string text_of(const nb::object& object, const char* attribute) {
  return text_of(nb::getattr(object, attribute, nb::none()));
}

class StackSampler {
 public:
  // `roots`: folders whose names are left out of files' names, the longest first. `own_folder`: where our own functions
  // are. `describe`: name and number of the system of a thread, by its number of Python.
  StackSampler(const PythonHook& hook, std::vector<std::string> roots, std::string own_folder, nb::callable describe)
      : recorder_(hook.hook().operators()),
        roots_(std::move(roots)),
        own_folder_(std::move(own_folder)),
        describe_(std::move(describe)),
        current_frames_(nb::module_::import_("sys").attr("_current_frames")) {}

  void note_memory(std::int32_t device, std::int64_t total_bytes) { recorder_.note_memory(device, total_bytes); }

  void sample() {
    if (!recorder_.is_recording()) return;
    if (const auto bytes = own_memory_bytes()) recorder_.note_memory(-1, *bytes);
    const std::int64_t begin_ns = monotonic_ns();
    const unsigned long own = PyThread_get_thread_ident();
    stacks_.clear();
    numbers_.resize(kMaxSampledThreads);
    const nb::dict frames = nb::cast<nb::dict>(current_frames_());
    std::map<unsigned long, Described> described;
    for (const auto& [key, frame] : frames) {
      const auto ident = nb::cast<unsigned long>(key);
      if (ident == own || stacks_.size() == kMaxSampledThreads) continue;
      const Described& thread = described.emplace(ident, take_description(ident)).first->second;
      std::vector<std::uint32_t>& numbers = numbers_[stacks_.size()];
      walk(frame, numbers);
      stacks_.push_back({.thread_id = thread.native_id, .thread_name = thread.name, .frames = numbers});
    }
    described_.swap(described);  // of threads that are still there
    recorder_.add_stacks(stacks_, monotonic_ns() - begin_ns);
  }

 private:
  struct Described {
    std::string name;
    std::uint64_t native_id = 0;
  };

  Described take_description(unsigned long ident) {
    if (const auto known = described_.find(ident); known != described_.end()) return std::move(known->second);
    const nb::object described = describe_(ident);
    return {text_of(nb::object(described[0])), nb::cast<std::uint64_t>(described[1])};
  }

  // The outermost first. Of our own functions those are left out that call others.
  void walk(nb::handle innermost, std::vector<std::uint32_t>& numbers) {
    numbers.clear();
    bool only_ours = true;
    nb::object frame = nb::borrow(innermost);
    for (std::size_t depth = 0; depth < kMaxFrames && !frame.is_none(); ++depth) {
      const Frame found = frame_of(frame);
      only_ours = only_ours && found.is_ours;
      if (!found.is_ours || only_ours) numbers.push_back(found.number);
      frame = frame.attr("f_back");
    }
    std::reverse(numbers.begin(), numbers.end());
  }

  Frame frame_of(const nb::object& frame) {
    auto* const raw = reinterpret_cast<PyFrameObject*>(frame.ptr());
    const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(raw)));
    const int line = PyFrame_GetLineNumber(raw);
    const Place place{code.ptr(), line};
    if (const auto known = places_.find(place); known != places_.end()) return known->second;
    const std::string file = text_of(code, "co_filename");
    std::string function = text_of(code, "co_qualname");  // from Python 3.11 on
    if (function.empty()) function = text_of(code, "co_name");
    const Frame made{recorder_.frame_number(function + " (" + shortened(file) + ":" + std::to_string(line) + ")"),
                     file.starts_with(own_folder_)};
    if (places_.size() < kMaxPlaces) {
      codes_.push_back(code);
      places_.emplace(place, made);
    }
    return made;
  }

  // What is in none of the folders is known by its last name alone: where somebody keeps their files is their affair.
  std::string shortened(std::string_view file) const {
    for (const std::string& root : roots_) {
      if (file.starts_with(root)) return std::string(file.substr(root.size()));
    }
    return std::string(file.substr(file.rfind('/') + 1));
  }

  OperatorRecorder& recorder_;  // is never destroyed
  const std::vector<std::string> roots_;
  const std::string own_folder_;
  const nb::callable describe_;
  const nb::object current_frames_;

  std::unordered_map<Place, Frame, PlaceHash> places_;
  std::vector<nb::object> codes_;
  std::map<unsigned long, Described> described_;
  std::vector<ThreadStack> stacks_;                  // these two of one sample
  std::vector<std::vector<std::uint32_t>> numbers_;  // of each of its threads
};

}  // namespace

void bind_stack_sampler(nb::module_& module) {
  nb::class_<StackSampler>(module, "StackSampler", "For adapters: samples of all threads' stacks.")
      .def(nb::init<const PythonHook&, std::vector<std::string>, std::string, nb::callable>(), nb::arg("hook"),
           nb::arg("roots"), nb::arg("own_folder"), nb::arg("describe"),
           nb::sig("def __init__(self, hook: Hook, roots: collections.abc.Sequence[str], own_folder: str, "
                   "describe: collections.abc.Callable[[int], tuple[str, int]]) -> None"))
      .def("sample", &StackSampler::sample,
           "Takes one, in a step that is recorded, and notes the memory of the process.")
      .def("note_memory", &StackSampler::note_memory, nb::arg("device"), nb::arg("total_bytes"),
           "So much memory of a device is in use now.");
}

}  // namespace trainwarden::python
