// What a word of a command is, seen from outside: can a program that it names be watched, and how?
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "ui/cli/terminal/terminal.h"

namespace trainwarden::cli {

enum class ProgramKind : std::uint8_t {
  kNone,            // no program
  kPython,          // a Python interpreter, or a script for one
  kTorch,           // needs LibTorch as a shared library
  kSanitizedTorch,  // as kTorch, built with a sanitizer: that must be the first library, so nothing can be preloaded
  kStatic,          // linked statically
  kOther,           // also a program of LibTorch with a hook of its own, which needs nothing
};

// The file that a shell would start for `word`: as a path, or found in PATH. None when there is none to start.
std::optional<std::filesystem::path> find_program(const std::string& word,
                                                  const Environment& environment = process_environment);

// Reads the file, and asks its loader which libraries it would take.
ProgramKind kind_of_program(const std::filesystem::path& file);

}  // namespace trainwarden::cli
