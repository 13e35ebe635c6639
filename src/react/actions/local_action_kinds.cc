#include "react/actions/action_kind.h"
#include "react/actions/exec_action.h"
#include "react/actions/file_action.h"
#include "react/actions/profile_action.h"
#include "react/actions/save_action.h"
#include "react/actions/stop_action.h"

namespace trainwarden::actions {

const std::vector<ActionKind>& local_action_kinds() {
  static const std::vector<ActionKind> kinds{stop_kind(),    save_kind(), black_box_kind(),
                                             profile_kind(), exec_kind(), file_kind()};
  return kinds;
}

}  // namespace trainwarden::actions
