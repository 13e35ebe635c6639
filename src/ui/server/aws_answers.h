// AWS's calls over HTTP: a POST of JSON to "/", with its call in a header, signed with an access key.
#pragma once

#include <string>
#include <string_view>

#include "ui/aws/aws_json.h"
#include "ui/server/http_message.h"

namespace trainwarden::server {

inline constexpr std::string_view kAwsTarget = "x-amz-target";

bool is_aws_request(const HttpRequest& head);

// "Authorization: AWS4-HMAC-SHA256 Credential=KEY/...": the key, "" when there is none. The signature is not looked at:
// whoever has the key could make it.
std::string_view access_key_of(const HttpRequest& head);

HttpAnswer http_answer_of(const aws::AwsAnswer& answer);

}  // namespace trainwarden::server
