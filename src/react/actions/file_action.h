// file: appends the event to a file, one line each.
#pragma once

#include <memory>
#include <string>

#include "react/actions/action_kind.h"

namespace trainwarden::actions {

struct FileOptions {
  std::string path;   // may have {run} and {rule} in it
  bool sync = false;  // return when it is on the medium
};

std::unique_ptr<Action> make_file_action(FileOptions options);

// The kind "file".
const ActionKind& file_kind();

}  // namespace trainwarden::actions
