// The jobs, experiments and studies that `serve` shows beside the runs.
#pragma once

#include <filesystem>
#include <memory>

#include "ui/work_answers/work_desk.h"

namespace trainwarden::cli {

// In these folders, which need not be there yet. A page that only shows starts no process: jobs that wait are looked
// after when `may_act` is true.
std::unique_ptr<work_answers::WorkDesk> open_desk(const std::filesystem::path& jobs,
                                                  const std::filesystem::path& experiments,
                                                  const std::filesystem::path& studies, bool may_act);

}  // namespace trainwarden::cli
