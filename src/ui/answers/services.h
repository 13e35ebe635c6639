// Services: the runs that the page's server shows, given to each handler. What is shown beside runs is an Area
// (route.h).
#pragma once

#include "ui/views/shelf.h"

namespace trainwarden::answers {

// Borrowed: all outlive the server.
struct Services {
  views::Shelf& shelf;  // the runs
};

}  // namespace trainwarden::answers
