// Services: what the page's server shows, given to each handler. What comes beside runs (jobs, experiments, studies) is
// a further member here, and its routes an area of their own.
#pragma once

#include "ui/views/shelf.h"

namespace trainwarden::answers {

// Borrowed: all outlive the server.
struct Services {
  views::Shelf& shelf;  // the runs
};

}  // namespace trainwarden::answers
