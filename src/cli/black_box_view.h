// BlackBoxView: what a run's black boxes left, for people and for programs.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/json_out.h"

namespace trainwarden::cli {

struct BlackBoxDump {
  std::string path;  // in the run's folder
  Json replay;       // replay.json (docs/format/black_box.md); an object with "error" when that cannot be read
};

// Those of the run in this folder that are whole, by step and worker.
std::vector<BlackBoxDump> read_black_boxes(const std::filesystem::path& run);

// replay.json with "path" in front.
Json json_of(const BlackBoxDump& dump);
// A table; nothing when there are none.
void print_black_boxes(std::FILE* out, const std::vector<BlackBoxDump>& dumps);

}  // namespace trainwarden::cli
