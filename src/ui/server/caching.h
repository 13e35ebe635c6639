// Caching: what a client has already is not sent again, and of what it wants in part the part is sent.
#pragma once

#include <string>
#include <string_view>

#include "ui/server/http_message.h"

namespace trainwarden::server {

// A strong ETag, with its quotes, of these bytes.
std::string etag_of(std::string_view bytes);
// Does an If-None-Match name this ETag?
bool names_etag(std::string_view if_none_match, std::string_view etag);

// Makes of a whole answer with an ETag what was asked for: 304 without a body, 206 with a part, 416.
HttpAnswer for_conditions(const HttpRequest& request, HttpAnswer whole);

}  // namespace trainwarden::server
