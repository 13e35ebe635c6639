#include "ui/answers/answers.h"

#include <chrono>
#include <utility>

#include "ui/answers/open_answers.h"
#include "ui/answers/route.h"
#include "ui/answers/router.h"
#include "ui/views/shelf.h"

namespace trainwarden::answers {
namespace {

class RunAnswers : public Answers {
 public:
  RunAnswers(std::unique_ptr<views::Shelf> shelf, std::string run_id)
      : shelf_(std::move(shelf)), run_id_(std::move(run_id)), router_(all_routes()) {}

  const std::string& run_id() const override { return run_id_; }

  Result<std::uint64_t> version() override {
    auto run = shelf_->run(run_id_);
    if (!run.ok()) return run.status();
    auto use = run.value()->use(std::chrono::milliseconds(0));
    if (!use.ok()) return use.status();
    return use.value().version();
  }

  Result<Answer> ask(std::string_view address) override {
    const std::size_t mark = address.find('?');
    const std::string_view query = mark == std::string_view::npos ? std::string_view{} : address.substr(mark + 1);
    auto match = router_.match(Method::kGet, address.substr(0, mark), query);
    if (!match.ok()) return match.status();
    auto reply = match.value().route->handler(match.value().request, Services{*shelf_});
    if (!reply.ok()) return reply.status();
    return Answer{std::move(reply.value().type), std::move(reply.value().body)};
  }

 private:
  std::unique_ptr<views::Shelf> shelf_;
  std::string run_id_;
  Router router_;
};

}  // namespace

Result<std::unique_ptr<Answers>> Answers::open(const std::filesystem::path& run_dir) {
  return open_answers(run_dir);
}

Result<std::unique_ptr<Answers>> open_answers(const storage::Location& location) {
  auto shelf = views::Shelf::open(location);
  if (!shelf.ok()) return shelf.status();
  auto runs = shelf.value()->list();
  if (!runs.ok()) return runs.status();
  for (const views::RunOnShelf& run : runs.value()) {
    if (run.location.address() != shelf.value()->place().address()) continue;
    if (auto opened = shelf.value()->run(run.id); !opened.ok()) return opened.status();
    return std::unique_ptr<Answers>(std::make_unique<RunAnswers>(std::move(shelf).value(), run.id));
  }
  return Status(Code::kNotFound, "expected a run, found none in " + location.address());
}

}  // namespace trainwarden::answers
