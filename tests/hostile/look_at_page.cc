// The addresses of the page's server, without the server.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "faults.h"
#include "look.h"
#include "ui/answers/route.h"
#include "ui/answers/router.h"
#include "ui/answers/run_archive.h"
#include "ui/views/shelf.h"

namespace trainwarden::hostile {
namespace {

using Parameters = views::Query::Parameters;

constexpr const char* kOneFilePage = "/runs/{run}/page";
constexpr std::size_t kMostAskedTensors = 8;
constexpr std::size_t kMostArchiveBytes = std::size_t{8} << 20;

// What the addresses want that answer nothing without. {} stands for the ids of some tensors.
const std::map<std::string, std::vector<Parameters>> kQuestions = {
    {"/runs/{run}/attention/steps", {{{"layer", "0"}}}},
    {"/runs/{run}/attention/head", {{{"layer", "0"}, {"heads", "0"}, {"step", "0"}}}},
    {"/runs/{run}/attention/rows", {{{"layer", "0"}, {"heads", "0"}, {"step", "0"}, {"queries", "0"}}}},
    {"/runs/{run}/attention/neuron", {{{"layer", "0"}, {"head", "0"}, {"step", "0"}, {"query", "0"}}}},
    {"/runs/{run}/attention/atlas", {{{"step", "0"}}}},
    {"/runs/{run}/attention/metrics", {{{"item", "0"}}}},
    {"/runs/{run}/attention/tile",
     {{{"layer", "0"}, {"head", "0"}, {"step", "0"}, {"level", "0"}, {"row", "0"}, {"column", "0"}}}},
    {"/runs/{run}/attention/film", {{{"layer", "0"}, {"head", "0"}}}},
    {"/runs/{run}/series", {{{"tensors", "{}"}}, {{"tensors", "{}"}, {"of", "l2"}, {"buckets", "4"}}}},
    {"/runs/{run}/statistics", {{{"tensors", "{}"}}, {{"tensors", "{}"}, {"points", "8"}}}},
    {"/runs/{run}/profile/calls", {{{"step", "0"}}, {{"step", "5"}, {"kinds", "operator,kernel"}}}},
    {"/runs/{run}/profile/timeline",
     {{}, {{"from_unix_ms", "1"}, {"to_unix_ms", "2"}, {"buckets", "2000"}}, {{"from_unix_ms", "8000000000000"}}}},
    {"/runs/{run}/profile/flame", {{}, {{"of", "stacks"}}}},
    {"/runs/{run}/confusion/samples", {{{"actual", "0"}, {"predicted", "0"}}}},
    {"/runs/{run}/tensors/{tensor}/statistics", {{}, {{"format", "csv"}}}},
    {"/runs/{run}/tensors/{tensor}/steps/{step}/value", {{}, {{"format", "csv"}}, {{"format", "npy"}}}},
};

class Asking {
 public:
  Asking(views::Shelf& shelf, Faults& faults) : shelf_(shelf), faults_(faults) {}

  void ask_all(const std::string& run_id) {
    choose(run_id);
    for (const answers::Route& route : answers::all_routes()) {
      if (route.method != answers::Method::kGet || route.path == kOneFilePage) continue;
      const auto questions = kQuestions.find(route.path);
      const std::vector<Parameters> all =
          questions == kQuestions.end() ? std::vector<Parameters>{{}} : questions->second;
      for (Parameters parameters : all) ask(route, run_id, std::move(parameters));
    }
  }

 private:
  // Some tensors with some of their steps.
  void choose(const std::string& run_id) {
    const auto run = shelf_.run(run_id);
    faults_.take(run, "the run on the shelf");
    if (!run.ok()) return;
    const auto use = (*run)->use();
    faults_.take(use, "the run in use");
    if (!use.ok()) return;
    const auto names = use->trial().tensor_names();
    for (const std::string& name : ends_of(names.value_or({}), kMostAskedTensors)) {
      const std::string id = views::tensor_id_of(name);
      tensors_[id] = ends_of(use->trial().steps_of(name), 2);
      ids_ += (ids_.empty() ? "" : ",") + id;
    }
  }

  void ask(const answers::Route& route, const std::string& run_id, Parameters parameters) {
    for (auto& [name, value] : parameters) {
      if (value == "{}") value = ids_;
    }
    answers::Request request{{{"run", run_id}}, views::Query(std::move(parameters)), ""};
    if (route.path.find("{tensor}") == std::string::npos) return ask(route, request);
    for (const auto& [id, steps] : tensors_) {
      request.path["tensor"] = id;
      if (route.path.find("{step}") == std::string::npos) ask(route, request);
      for (const std::int64_t step :
           route.path.find("{step}") == std::string::npos ? std::vector<std::int64_t>{} : steps) {
        request.path["step"] = std::to_string(step);
        ask(route, request);
      }
    }
  }
  void ask(const answers::Route& route, const answers::Request& request) {
    const auto reply = route.handler(request, answers::Services{shelf_});
    faults_.take(reply, route.path);
    if (reply.ok() && reply->body == nullptr) faults_.add(route.path, "an answer without a body");
  }

  views::Shelf& shelf_;
  Faults& faults_;
  std::map<std::string, std::vector<std::int64_t>> tensors_;  // steps, by the tensor's id
  std::string ids_;
};

void expect_questions_known(Faults& faults) {
  std::set<std::string> paths;
  for (const answers::Route& route : answers::all_routes()) paths.insert(route.path);
  for (const auto& [path, questions] : kQuestions) {
    if (!paths.contains(path)) faults.add(path, "the server has no such address");
  }
}

}  // namespace

std::string look_at_page(const std::filesystem::path& run) {
  Faults faults;
  expect_questions_known(faults);
  const auto shelf = views::Shelf::open(run.parent_path());
  if (!shelf.ok()) return shelf.status().to_string();
  Asking(**shelf, faults).ask_all(views::run_id_of(run.filename().string()));
  return faults.fault();
}

std::string look_at_one_file_page(const std::filesystem::path& run) {
  Faults faults;
  faults.take(answers::archive_run(run, {.most_bytes = kMostArchiveBytes}), "the page in one file");
  return faults.fault();
}

}  // namespace trainwarden::hostile
