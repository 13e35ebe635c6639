// Fuzzes the server: the input is what a client sends, one request after another, to a server of one run and one job.
// The token is "t". Every answer must be one that can be sent, and must not be taken for a page when it is none.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "core/base/clock.h"
#include "trainwarden/hook.h"
#include "ui/server/http_wire.h"
#include "ui/server/site.h"
#include "ui/work_answers/work_desk.h"

namespace {

using namespace trainwarden;
namespace http = boost::beast::http;

// A run with something of each kind: numbers over steps, a matrix, attention, labels and predictions, texts.
void train(const std::filesystem::path& folder) {
  HookOptions options;
  options.run_dir = folder;
  options.save_all = true;
  options.save = SavePolicy::every(1);
  options.when_full = WhenFull::kBlock;
  options.collections = {{.name = "losses", .include = {"loss$"}}};
  auto hook = Hook::open(std::move(options));
  if (!hook.ok()) std::abort();
  const std::vector<float> values(2 * 2 * 4 * 4, 0.25F);
  const std::vector<std::int64_t> labels{0, 1, 1, 0};
  for (int step = 0; step < 4; ++step) {
    (*hook)->save_scalar("loss", 1.0 / (step + 1));
    (*hook)->save_tensor("conv.weight", TensorView::of(values.data(), DType::kFloat32, {4, 1, 4, 4}));
    (*hook)->save_tensor("layer0.attention", TensorView::of(values.data(), DType::kFloat32, {2, 2, 4, 4}));
    (*hook)->save_tensor("labels", TensorView::of(labels.data(), DType::kInt64, {4}));
    (*hook)->save_tensor("logits", TensorView::of(values.data(), DType::kFloat32, {4, 2}));
    (*hook)->save_strings("tokens", std::vector<std::string_view>{"[CLS]", "a", "b", "[SEP]"});
    (*hook)->end_step();
  }
  if (!(*hook)->close().ok()) std::abort();
}

// A job that has ended, with a log and a checkpoint.
void submit(const std::filesystem::path& folder) {
  jobs::JobOrder order;
  order.name = "job";
  order.program = {"true"};
  order.run = folder / "run";
  order.spec = "program = \"true\"\n[checkpoints]\npath = \"checkpoints\"\n";
  order.spec_file = folder / "job.toml";
  auto job = jobs::JobRecord::create(folder / "jobs", order);
  if (!job.ok()) std::abort();
  if (!job->advance(*job->current(), jobs::JobPhase::kFailed, "test", "", system_clock()).ok()) std::abort();
  std::filesystem::create_directories(folder / "checkpoints");
  std::ofstream(folder / "checkpoints/last.pt") << "weights";
  std::ofstream(job->output()) << "line 1\nline 2\n";
}

work_answers::JobActions only_reading() {
  work_answers::JobActions actions;
  actions.settling = [] { return [](jobs::JobRecord& job) { return job.current(); }; };
  return actions;
}

class Place {
 public:
  Place() : folder_(std::filesystem::temp_directory_path() / fmt::format("fuzz_http-{}", getpid())) {
    train(folder_ / "run");
    auto shelf = views::Shelf::open(folder_);
    if (!shelf.ok()) std::abort();
    shelf_ = *std::move(shelf);
    submit(folder_);
    desk_ = std::make_unique<work_answers::WorkDesk>(
        work_answers::WorkPlaces{folder_ / "jobs", folder_ / "catalogue", folder_ / "experiments",
                                 folder_ / "catalogue", folder_ / "studies"},
        only_reading());
    server::Site::Options options{.access = {"t", {}}, .areas = work_answers::work_areas(*desk_)};
    site_ = std::make_unique<server::Site>(answers::Services{*shelf_}, std::move(options));
  }
  ~Place() { std::filesystem::remove_all(folder_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  const server::Site& site() const { return *site_; }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<views::Shelf> shelf_;
  std::unique_ptr<work_answers::WorkDesk> desk_;
  std::unique_ptr<server::Site> site_;
};

// A client's words must not begin a header of their own.
void must_be_sendable(const server::HttpAnswer& answer) {
  for (const auto& [name, value] : answer.headers) {
    if ((name + value).find_first_of("\r\n") != std::string::npos) std::abort();
  }
  if (answer.status < 200 || answer.status > 599) std::abort();
  if (answer.status >= 400 && answer.header("content-type") != "application/json") std::abort();
  if (answer.header("x-content-type-options") != "nosniff") std::abort();
  (void)server::encode_head(answer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static const Place kPlace;
  std::string_view rest(reinterpret_cast<const char*>(data), bytes);
  while (!rest.empty()) {
    http::request_parser<http::string_body> parser;
    parser.header_limit(16 * 1024);
    parser.body_limit(1024 * 1024);
    parser.eager(true);
    boost::system::error_code error;
    const std::size_t taken = parser.put(boost::asio::buffer(rest), error);
    if (error || !parser.is_done()) {
      must_be_sendable(server::answer_of_parse_error(error));
      return 0;
    }
    rest.remove_prefix(taken);
    must_be_sendable(kPlace.site().answer(server::take_request(parser.get())));
  }
  return 0;
}
