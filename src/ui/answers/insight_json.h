// Confusion matrices and comparisons as answers.
#pragma once

#include "data/format/json.h"
#include "ui/answers/route.h"
#include "ui/views/compare.h"
#include "ui/views/confusion.h"

namespace trainwarden::answers {

// Arrays: "counts" [C, C], "classes" [C], "numbers" [C, 10].
Reply reply_of(const views::Confusion& confusion, const views::ClassNames& names);
format::OrderedJson json_of(const views::Comparison& comparison);

}  // namespace trainwarden::answers
