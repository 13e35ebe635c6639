// no_throw: what the public calls of a floor run in, so that no exception leaves it. Memory that runs out becomes a
// Status like every other failure.
// failure.
#pragma once

#include <exception>
#include <new>

#include "trainwarden/status.h"

namespace trainwarden {

// `body` returns a Status or a Result.
template <class Body>
auto no_throw(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "out of memory");
  } catch (const std::exception& error) {
    return Status(Code::kInternal, error.what());
  }
}

}  // namespace trainwarden
