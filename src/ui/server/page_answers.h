// The files of the page, as they are served.
#pragma once

#include <string_view>

#include "ui/server/http_message.h"

namespace trainwarden::server {

// What the page may load and do, for its Content-Security-Policy.
extern const std::string_view kPagePolicy;

// `path` is escaped: "/", "/assets/index-B4x1.js". 404 for one that is not a file of the page.
HttpAnswer answer_page(const HttpRequest& request, std::string_view path);

}  // namespace trainwarden::server
