// What a run's black boxes left: each is a run of its own in the run's folder.
#pragma once

#include <string>
#include <vector>

#include "data/format/json.h"
#include "store/storage/location.h"

namespace trainwarden::views {

struct BlackBoxDump {
  std::string path;            // in the run's folder: "blackbox/step-000123-rank-00000"
  format::OrderedJson replay;  // replay.json (docs/format/black_box.md); an object with "error" when it cannot be read
};

// Those that are whole, by name, without what is in them.
std::vector<std::string> list_black_boxes(const storage::Location& run);
// The same, with what their replay.json says.
std::vector<BlackBoxDump> read_black_boxes(const storage::Location& run);
// What the run inside is called: "first/blackbox/step-000123-rank-00000".
std::string black_box_run_name(const std::string& run_name, const std::string& path);

}  // namespace trainwarden::views
