// How much each parameter of a study mattered: for people.
#pragma once

#include <string>

#include "tune/search/importance/importance.h"
#include "tune/study/study.h"
#include "ui/cli/terminal/terminal.h"

namespace trainwarden::cli {

// A table with bars of each method, how far each is to be trusted, and what else is to be known.
std::string importance_text(const tune::Study& study, std::size_t metric, const tune::StudyImportance& found,
                            const Terminal& terminal);

}  // namespace trainwarden::cli
