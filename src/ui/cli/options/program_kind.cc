// Looks into files; the loader itself says which libraries a program needs, since only it knows all the places.
#include "ui/cli/options/program_kind.h"

#include <chrono>
#include <fstream>
#include <iterator>
#include <vector>

#include <elf.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/process/captured_output.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

bool is_startable(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& value) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&value), sizeof value));
}

// The path in the program header PT_INTERP; empty where there is none, in a program that is linked statically.
std::string interpreter_of(std::ifstream& file, const Elf64_Ehdr& header) {
  constexpr std::uint64_t kLongestPath = 4096;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(file, header.e_phoff + std::uint64_t{sizeof segment} * i, segment)) return "";
    if (segment.p_type != PT_INTERP || segment.p_filesz == 0 || segment.p_filesz > kLongestPath) continue;
    std::string path(segment.p_filesz - 1, '\0');  // without the null at the end
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    return file.read(path.data(), static_cast<std::streamsize>(path.size())) ? path : "";
  }
  return "";
}

// What the program's own loader would load for it. Nothing of the program runs.
std::string libraries_of(const std::string& loader, const fs::path& program) {
  constexpr std::size_t kMaxBytes = 1 << 20;
  constexpr std::chrono::seconds kTime{60};
  const auto list = process::capture_output({.command = {loader, "--list", program.string()}}, kMaxBytes, kTime);
  return list.ok() ? list->text : "";
}

// Clang links its sanitizers into the program itself.
bool holds_sanitizer(std::ifstream& file) {
  file.clear();
  file.seekg(0);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const char* name : {"__asan_init", "__tsan_init", "__msan_init"}) {
    if (bytes.find(name) != std::string::npos) return true;
  }
  return false;
}

ProgramKind kind_of_elf(const fs::path& path, std::ifstream& file, const Elf64_Ehdr& header) {
  const std::string loader = interpreter_of(file, header);
  if (loader.empty()) return ProgramKind::kStatic;
  const std::string libraries = libraries_of(loader, path);
  if (libraries.find("libtorch_cpu.so") == std::string::npos) return ProgramKind::kOther;
  if (libraries.find("libtrainwarden_torch.so") != std::string::npos) return ProgramKind::kOther;
  for (const char* sanitizer : {"libasan.so", "libtsan.so", "libclang_rt."}) {
    if (libraries.find(sanitizer) != std::string::npos) return ProgramKind::kSanitizedTorch;
  }
  return holds_sanitizer(file) ? ProgramKind::kSanitizedTorch : ProgramKind::kTorch;
}

bool is_python_name(std::string_view name) {
  return name.starts_with("python") || name.starts_with("pypy");
}

// "#!/usr/bin/env python3"
bool is_python_script(std::ifstream& file) {
  std::string line;
  file.clear();
  file.seekg(0);
  std::getline(file, line);
  return line.starts_with("#!") && line.find("python") != std::string::npos;
}

}  // namespace

std::optional<fs::path> find_program(const std::string& word, const Environment& environment) {
  if (word.find('/') != std::string::npos) return is_startable(word) ? std::optional<fs::path>(word) : std::nullopt;
  const char* folders = environment("PATH");
  if (word.empty() || folders == nullptr) return std::nullopt;
  for (const std::string& folder : split_list(folders, ':')) {
    const fs::path file = fs::path(folder) / word;
    if (is_startable(file)) return file;
  }
  return std::nullopt;
}

ProgramKind kind_of_program(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file) return ProgramKind::kNone;
  const bool is_elf = read_at(file, 0, header) &&
                      std::string_view(reinterpret_cast<const char*>(header.e_ident), SELFMAG) == ELFMAG &&
                      header.e_ident[EI_CLASS] == ELFCLASS64;
  std::error_code ignored;
  if (is_python_name(fs::weakly_canonical(path, ignored).filename().string())) return ProgramKind::kPython;
  if (is_elf) return kind_of_elf(path, file, header);
  return is_python_script(file) ? ProgramKind::kPython : ProgramKind::kOther;
}

}  // namespace trainwarden::cli
