// A histogram as TensorBoard shows it.
#pragma once

#include "data/foreign/tf_event.h"
#include "trainwarden/statistics.h"

namespace trainwarden::transfer {

// Of statistics with a histogram. The counts are exact; a value that lies on the edge of two bins is counted in the
// upper one, by magnitude. NaN and infinities are not in it.
foreign::TfHistogram board_histogram(const Statistics& statistics);

}  // namespace trainwarden::transfer
