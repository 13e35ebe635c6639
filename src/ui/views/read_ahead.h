// Reading ahead: what the first look at a run asks for, read before somebody looks.
#pragma once

#include <functional>

#include "ui/views/shelf.h"

namespace trainwarden::views {

// The steps of the run and its losses, in pieces, so that whoever looks meanwhile does not wait for long. Ends early
// when `should_end` says so: false then, and what is left goes on with the next call. It gives up after two seconds,
// and leaves what cannot be read for who asks for it.
bool read_losses_ahead(OpenRun& run, const std::function<bool()>& should_end);

}  // namespace trainwarden::views
