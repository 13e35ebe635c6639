// A run as one file.
#include "ui/answers/long_work.h"
#include "ui/answers/one_file_page.h"
#include "ui/answers/route.h"

namespace trainwarden::answers {
namespace {

Result<Reply> get_page(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto run, services.shelf.run(request.in_path("run")));
  const LongWork turn;
  TRAINWARDEN_RETURN_IF_ERROR(turn.status());
  TRAINWARDEN_ASSIGN_OR_RETURN(OneFilePage page, one_file_page(run->location()));
  Reply reply;
  reply.type = "text/html; charset=utf-8";
  reply.file_name = run->name() + ".html";
  reply.body = std::make_shared<const std::string>(std::move(page.html));
  return reply;
}

}  // namespace

std::vector<Route> page_routes() {
  return {{Method::kGet, "/runs/{run}/page", get_page}};
}

}  // namespace trainwarden::answers
