// The answers of a run, wherever it lies: what ui/answers/answers.h offers for folders.
#pragma once

#include <memory>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "ui/answers/answers.h"

namespace trainwarden::answers {

// As Answers::open().
Result<std::unique_ptr<Answers>> open_answers(const storage::Location& run);

}  // namespace trainwarden::answers
