#include "hook/capture/writing/open_parts.h"

#include <iterator>
#include <utility>

namespace trainwarden::capture {

void OpenParts::put_aside(StagedStep& part) {
  statistics_.insert(statistics_.end(), std::make_move_iterator(part.statistics.begin()),
                     std::make_move_iterator(part.statistics.end()));
  part.statistics.clear();
  losses_.merge(std::exchange(part.losses, LossTally()));
}

void OpenParts::give_back_to(StagedStep& step) {
  step.statistics.insert(step.statistics.begin(), std::make_move_iterator(statistics_.begin()),
                         std::make_move_iterator(statistics_.end()));
  statistics_.clear();
  step.losses.merge(std::exchange(losses_, LossTally()));
}

}  // namespace trainwarden::capture
