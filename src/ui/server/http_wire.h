// HTTP/1.1 as bytes: between Beast's messages and ours.
#pragma once

#include <string>
#include <string_view>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/system/error_code.hpp>

#include "ui/server/http_message.h"

namespace trainwarden::server {

// Without the body.
HttpRequest head_of(const boost::beast::http::request<boost::beast::http::string_body>& message);
// Leaves the message without its body.
HttpRequest take_request(boost::beast::http::request<boost::beast::http::string_body>& message);
// Of bytes that are no request, or one that is too large.
HttpAnswer answer_of_parse_error(const boost::system::error_code& error);
// Status line and headers, with the length of the body or, of notices, the announcement of chunks.
std::string encode_head(const HttpAnswer& answer);
std::string encode_chunk(std::string_view bytes);

}  // namespace trainwarden::server
