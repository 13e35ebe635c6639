#include "data/device/nvrtc.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/program_variables.h"

namespace trainwarden::device {
namespace {

constexpr std::array kNames = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};

// Source: NVRTC API reference. Outcomes are nvrtcResult, programs pointers.
struct Nvrtc {
  const char* (*error_string)(int);
  int (*version)(int* major, int* minor);
  int (*create)(void** program, const char* text, const char* name, int header_count, const char* const* headers,
                const char* const* header_names);
  int (*compile)(void* program, int option_count, const char* const* options);
  int (*log_size)(void* program, std::size_t* size);
  int (*log)(void* program, char* log);
  int (*code_size)(void* program, std::size_t* size);
  int (*code)(void* program, char* code);
  int (*destroy)(void** program);
};

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

bool find_functions(void* library, Nvrtc& nvrtc) {
  return find(library, "nvrtcGetErrorString", nvrtc.error_string) && find(library, "nvrtcVersion", nvrtc.version) &&
         find(library, "nvrtcCreateProgram", nvrtc.create) && find(library, "nvrtcCompileProgram", nvrtc.compile) &&
         find(library, "nvrtcGetProgramLogSize", nvrtc.log_size) && find(library, "nvrtcGetProgramLog", nvrtc.log) &&
         find(library, "nvrtcGetCUBINSize", nvrtc.code_size) && find(library, "nvrtcGetCUBIN", nvrtc.code) &&
         find(library, "nvrtcDestroyProgram", nvrtc.destroy);
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? "." : path.substr(0, slash));
}

// Where NVRTC may lie beside a CUDA runtime of the process: in its folder, or in the one of its own wheel.
int add_neighbours(dl_phdr_info* info, std::size_t, void* data) {
  constexpr std::string_view kRuntime = "libcudart.so.";
  auto& paths = *static_cast<std::vector<std::string>*>(data);
  const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  const std::size_t at = path.rfind(kRuntime);
  if (at == std::string_view::npos) return 0;
  for (const char* name : kNames) {
    paths.push_back(fmt::format("{}/{}", folder_of(path), name));
    paths.push_back(fmt::format("{}/../../cuda_nvrtc/lib/{}", folder_of(path), name));
  }
  return 0;
}

std::vector<std::string> candidate_paths() {
  if (const char* path = std::getenv(variable::kNvrtc); path != nullptr && *path != '\0') return {path};
  std::vector<std::string> paths(kNames.begin(), kNames.end());
  ::dl_iterate_phdr(add_neighbours, &paths);
  return paths;
}

// NVRTC opens a second library by its bare name, which the linker finds only when it is loaded already, unless it lies
// on its path. When it is missing, compiling says so.
void load_builtins(const Nvrtc& nvrtc) {
  int major = 0;
  int minor = 0;
  Dl_info where{};
  if (nvrtc.version(&major, &minor) != 0) return;
  if (::dladdr(reinterpret_cast<void*>(nvrtc.version), &where) == 0 || where.dli_fname == nullptr) return;
  const std::string path = fmt::format("{}/libnvrtc-builtins.so.{}.{}", folder_of(where.dli_fname), major, minor);
  static_cast<void>(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
}

Result<Nvrtc> load_nvrtc() {
  for (const std::string& path : candidate_paths()) {
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    Nvrtc nvrtc{};
    if (library == nullptr || !find_functions(library, nvrtc)) continue;
    load_builtins(nvrtc);
    return nvrtc;
  }
  return Status(Code::kUnavailable, fmt::format("there is no NVRTC of CUDA 11.2 or later to compile with; let {} name "
                                                "the file libnvrtc.so.*",
                                                variable::kNvrtc));
}

// A program of NVRTC's, destroyed in the end.
class Program {
 public:
  Program(const Nvrtc& nvrtc, const char* text) : nvrtc_(nvrtc) {
    outcome_ = nvrtc.create(&program_, text, "statistics_kernel.cu", 0, nullptr, nullptr);
  }
  ~Program() {
    if (program_ != nullptr) nvrtc_.destroy(&program_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Result<std::string> compile(const std::string& architecture) {
    const std::array options = {"--std=c++17", architecture.c_str()};
    if (outcome_ == 0) outcome_ = nvrtc_.compile(program_, static_cast<int>(options.size()), options.data());
    if (outcome_ == 0) return read(nvrtc_.code_size, nvrtc_.code);
    return Status(Code::kInternal, fmt::format("NVRTC with {}: {}; {}", architecture, nvrtc_.error_string(outcome_),
                                               read(nvrtc_.log_size, nvrtc_.log)));
  }

 private:
  std::string read(int (*get_size)(void*, std::size_t*), int (*get)(void*, char*)) {
    std::size_t size = 0;
    if (program_ == nullptr || get_size(program_, &size) != 0) return "";
    std::string bytes(size, '\0');
    return get(program_, bytes.data()) == 0 ? bytes : "";
  }

  const Nvrtc& nvrtc_;
  void* program_ = nullptr;
  int outcome_ = 0;
};

}  // namespace

Result<std::string> compile_for_gpu(const char* text, int major, int minor) {
  static const Result<Nvrtc> nvrtc = load_nvrtc();
  TRAINWARDEN_RETURN_IF_ERROR(nvrtc.status());
  return Program(*nvrtc, text).compile(fmt::format("--gpu-architecture=sm_{}{}", major, minor));
}

}  // namespace trainwarden::device
