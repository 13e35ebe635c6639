// How a program that knows nothing of us is watched: the environment that it is started with.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ui/cli/options/program_kind.h"

namespace trainwarden::cli {

struct AttachPlan {
  std::map<std::string, std::string> environment;  // beside what is captured
  std::string warning;                             // why the program will not be watched though it should be; or empty
};

// `mode` is what --attach takes:
//   auto     Python programs attach by themselves; a compiled LibTorch program gets libtrainwarden_preload.so. Every
//            word of the command is looked at, so one behind env, nice, time or mpirun is found as well.
//   preload  the library in any case, for a program that a script starts
//   off      the program may open its own hook, and nothing more
AttachPlan plan_attach(const std::vector<std::string>& command, const std::string& mode,
                       const Environment& environment = process_environment);

// The first word that is a LibTorch program, else the first that says why the command can be watched or cannot.
struct WatchedWord {
  std::filesystem::path file;
  ProgramKind kind = ProgramKind::kOther;
};
std::optional<WatchedWord> find_watched_word(const std::vector<std::string>& command,
                                             const Environment& environment = process_environment);

// Why no run appeared: what the user can do about it.
std::string explain_missing_run(const std::vector<std::string>& command, const std::string& mode,
                                const Environment& environment = process_environment);

}  // namespace trainwarden::cli
