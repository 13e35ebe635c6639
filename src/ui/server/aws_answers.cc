#include "ui/server/aws_answers.h"

#include <algorithm>

namespace trainwarden::server {

bool is_aws_request(const HttpRequest& head) {
  return head.method == "POST" && head.count(kAwsTarget) == 1;
}

std::string_view access_key_of(const HttpRequest& head) {
  constexpr std::string_view kScheme = "AWS4-HMAC-SHA256 ";
  constexpr std::string_view kCredential = "Credential=";
  std::string_view text = head.header("authorization");
  if (head.count("authorization") != 1 || !text.starts_with(kScheme)) return "";
  const std::size_t begin = text.find(kCredential);
  if (begin == std::string_view::npos) return "";
  text.remove_prefix(begin + kCredential.size());
  return text.substr(0, std::min(text.find('/'), text.size()));
}

HttpAnswer http_answer_of(const aws::AwsAnswer& answer) {
  HttpAnswer http;
  http.status = answer.status;
  http.add("Content-Type", "application/x-amz-json-1.1");
  http.add("Cache-Control", "no-store");
  http.set_body(std::make_shared<const std::string>(format::dump_json(answer.body)));
  return http;
}

}  // namespace trainwarden::server
