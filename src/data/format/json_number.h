// Numbers in JSON documents: what is not finite, for which JSON has no numbers, is one of the texts "NaN", "Infinity"
// and "-Infinity".
#pragma once

#include "data/format/json.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

OrderedJson json_number(double value);

// A field of an object that holds such a number. kDataLoss with the field's name when it is missing or no number.
Result<double> number_field(const Json& object, const char* field);

}  // namespace trainwarden::format
