#include "ui/server/page_answers.h"

#include <algorithm>

#include <page_files.h>

#include "core/base/text.h"
#include "ui/answers/page_file.h"
#include "ui/server/caching.h"

namespace trainwarden::server {
namespace {

// What is made into a file of its own, not served.
constexpr std::string_view kOneFileFolder = "one_file/";

bool takes_gzip(const HttpRequest& request) {
  for (const std::string& coding : split_list(request.header("accept-encoding"))) {
    const std::string text = lower(coding);
    const std::size_t end = std::min(text.find(';'), text.size());
    const bool refused = text.find("q=0", end) != std::string::npos && text.find("q=0.", end) == std::string::npos;
    if (trim(text.substr(0, end)) == "gzip") return !refused;
  }
  return false;
}

}  // namespace

// Svelte 5 makes its templates through a policy of its own, from texts of the page's own program.
const std::string_view kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types svelte-trusted-html";

HttpAnswer answer_page(const HttpRequest& request, std::string_view path) {
  const page::File* file = answers::find_page_file(path == "/" ? "index.html" : path.substr(1));
  if (file == nullptr || file->path.starts_with(kOneFileFolder)) {
    return error_answer(404, name(Code::kNotFound), "the page has no file of this name; it begins at /");
  }
  HttpAnswer answer;
  answer.add("Content-Type", std::string(file->type));
  answer.add("Cache-Control", file->hashed ? "private, max-age=31536000, immutable" : "no-cache");
  answer.add("Vary", "Accept-Encoding");
  if (file->type.starts_with("text/html")) answer.add("Content-Security-Policy", std::string(kPagePolicy));
  if (takes_gzip(request)) {
    answer.add("Content-Encoding", "gzip");
    answer.body = file->gzip;
  } else {  // for the rare client that cannot decompress
    auto bytes = answers::decompress(*file);
    if (!bytes.ok()) return error_answer(bytes.status());
    answer.set_body(std::make_shared<const std::string>(*std::move(bytes)));
  }
  answer.add("ETag", etag_of(answer.body));
  return answer;
}

}  // namespace trainwarden::server
