#include "ui/answers/run_archive.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "data/format/parse_json.h"
#include "data/format/safetensors.h"
#include "trainwarden/version.h"
#include "ui/answers/answer_texts.h"
#include "ui/answers/open_answers.h"
#include "ui/answers/percent.h"
#include "ui/answers/profile_document.h"
#include "ui/answers/router.h"
#include "ui/views/layers/layer_quantity.h"

namespace trainwarden::answers {
namespace {

using format::Json;

constexpr std::size_t kMostAttentionSteps = 8;     // at which attention is kept
constexpr std::size_t kMostSeries = 500;           // of numbers over steps
constexpr std::size_t kMostArchivedTensors = 500;  // with statistics over steps and a histogram each
constexpr std::size_t kTensorsEachTable = 256;
constexpr std::uint64_t kMostArchivedCalls = 20'000;  // of operators, in one step
constexpr std::int64_t kWholeTokens = 256;            // longer texts are kept as their first tokens
constexpr int kFirstTokens = 64;
constexpr int kLayerColumns = 512;
constexpr int kMostLayerLooks = 20;

Json parsed(const std::string& body) {
  constexpr format::JsonLimits kOurOwn{.values = std::numeric_limits<std::uint64_t>::max()};
  return format::parse_json(body, "an answer", kOurOwn).value_or(Json(Json::value_t::discarded));
}

// All steps of [[first, stride, count], ...].
std::vector<std::int64_t> steps_of(const Json& ranges) {
  std::vector<std::int64_t> steps;
  for (const Json& range : ranges) {
    for (std::int64_t i = 0; i < range.at(2); ++i) {
      steps.push_back(range.at(0).get<std::int64_t>() + i * range.at(1).get<std::int64_t>());
    }
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

// Evenly spaced, the last one among them; the last one first.
std::vector<std::int64_t> chosen_steps(const std::vector<std::int64_t>& steps) {
  std::set<std::int64_t, std::greater<>> chosen;
  const std::size_t count = std::min(kMostAttentionSteps, steps.size());
  for (std::size_t i = 0; i < count; ++i) {
    chosen.insert(steps[count == 1 ? steps.size() - 1 : i * (steps.size() - 1) / (count - 1)]);
  }
  return {chosen.begin(), chosen.end()};
}

class Collector {
 public:
  Collector(Answers& answers, RunArchive& archive, const ArchiveChoice& choice)
      : answers_(answers),
        archive_(archive),
        run_("/runs/" + answers.run_id()),
        most_bytes_(choice.most_bytes),
        texts_(choice.texts) {}

  // In the order in which things are given up when there is too much.
  void collect() {
    take_lists();
    take_series();
    take_layers();
    take_attention_lists();
    take_tensor_tables();
    take_attention();
    take_tensors();
  }

  void collect_profile(std::shared_ptr<const std::string> document) {
    take_about();
    take("/runs");
    for (const char* of_run : {"", "/steps", "/rules", "/events"}) take(run_ + of_run);
    keep(run_ + "/profile", std::move(document));
    take(run_ + "/profile/timeline?buckets=120");
    take(run_ + "/profile/steps");
    const Json windows = take_json(run_ + "/profile/windows");
    for (const char* of : {"operators", "stacks"}) take(fmt::format("{}/profile/flame?of={}", run_, of));
    take_calls(windows);
  }

 private:
  // What the run does not have, or what needs more than its address says, is not in the file.
  std::shared_ptr<const std::string> take(const std::string& address) {
    if (const auto taken = taken_.find(address); taken != taken_.end()) return taken->second;
    auto answer = answers_.ask(address);
    if (!answer.ok() || !answer->body) return nullptr;
    return keep(address, answer->body);
  }

  std::shared_ptr<const std::string> keep(const std::string& address, std::shared_ptr<const std::string> body) {
    if (texts_ == Texts::kLeftOut) body = std::make_shared<const std::string>(without_texts(*body));
    if (archive_.bytes + body->size() > most_bytes_) {
      ++archive_.left_out;
      return nullptr;
    }
    taken_.emplace(address, body);
    archive_.bytes += body->size();
    archive_.answers.push_back({address, body});
    return body;
  }
  Json take_json(const std::string& address) {
    const auto body = take(address);
    return body ? parsed(*body) : Json::object();
  }

  void take_about() {
    const format::OrderedJson about{
        {"version", std::string(version())}, {"actions_allowed", false}, {"place", archive_.run_name}};
    archive_.answers.push_back({"/about", std::make_shared<const std::string>(format::dump_json(about))});
  }

  // Everything that is asked with the run alone.
  void take_lists() {
    take_about();
    take("/runs");
    take("/rules");
    for (const Route& route : all_routes()) {
      const bool of_run = route.path.starts_with("/runs/{run}") && route.path.find('{', 7) == std::string::npos;
      const bool is_later = route.path.find("/attention") != std::string::npos || route.path.ends_with("/statistics") ||
                            route.path.ends_with("/layers");
      if (route.method != Method::kGet || !of_run || is_later || route.path == "/runs/{run}/page") continue;
      take(run_ + route.path.substr(std::string_view("/runs/{run}").size()));
    }
    listing_ = take_json(run_ + "/tensors");
  }

  // Ids of the run's tensors; with `scalars` of those that have numbers of their own, and of losses.
  std::vector<std::string> tensors(bool scalars) const {
    const Json ids = listing_.value("ids", Json::array());
    if (!scalars) return ids.get<std::vector<std::string>>();
    std::set<std::size_t> chosen;
    const Json counts = listing_.value("scalars", Json::array());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0) chosen.insert(i);
    }
    for (const Json& loss : listing_.value("collections", Json::object()).value("losses", Json::array())) {
      chosen.insert(loss.get<std::size_t>());
    }
    std::vector<std::string> found;
    for (const std::size_t i : chosen) found.push_back(ids.at(i));
    return found;
  }

  void take_series() {
    std::vector<std::string> ids = tensors(true);
    ids.resize(std::min(ids.size(), kMostSeries));
    for (const Json& choice : take_json(run_ + "/series/choices").value("tensors", Json::array())) {
      if (choice.value("collections", Json::array()) == Json::array({"metrics"})) ids.push_back(choice.at("id"));
    }
    // Of each mode apart, as the views show them; of all modes together, as curves of two runs are compared.
    for (const std::string& id : ids) take(fmt::format("{}/series?buckets=1000&by=mode&tensors={}", run_, id));
    for (const std::string& id : ids) take(fmt::format("{}/series?buckets=1000&tensors={}", run_, id));
  }

  // Each quantity of the layers that it is usually asked of, as far as it can be read in a few answers.
  void take_layers() {
    for (const views::QuantityWords& words : views::kLayerQuantities) {
      const std::string address = fmt::format("{}/layers?columns={}&quantity={}", run_, kLayerColumns, words.name);
      for (int i = 0; i < kMostLayerLooks && layer_steps_left(address) > 0; ++i) {
      }
      take(address);
    }
  }

  std::int64_t layer_steps_left(const std::string& address) {
    const auto answer = answers_.ask(address);
    if (!answer.ok() || !answer->body) return 0;
    const auto header = format::decode_safetensors_header(as_bytes(*answer->body), answer->body->size());
    return header.ok() ? parsed(header->metadata.at("about")).value("left", std::int64_t{0}) : 0;
  }

  void take_tensor_tables() {
    const std::vector<std::string> ids = tensors(false);
    for (std::size_t first = 0; first < ids.size(); first += kTensorsEachTable) {
      const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(first + kTensorsEachTable, ids.size()));
      take(fmt::format("{}/statistics?of=mean&points=24&tensors={}", run_, fmt::join(begin, end, ",")));
    }
  }

  void take_tensors() {
    std::vector<std::string> ids = tensors(false);
    ids.resize(std::min(ids.size(), kMostArchivedTensors));
    for (const std::string& id : ids) {
      take(fmt::format("{}/tensors/{}", run_, id));
      take(fmt::format("{}/tensors/{}/statistics?most=500", run_, id));
      take(fmt::format("{}/tensors/{}/histograms?bins=128&most=64", run_, id));
    }
  }

  // Of one recorded step, in the middle of the window, as the first may still warm up.
  void take_calls(const Json& windows) {
    std::vector<const Json*> fitting;
    for (const Json& window : windows) {
      if (window.value("calls", std::uint64_t{0}) <= kMostArchivedCalls) fitting.push_back(&window);
    }
    if (fitting.empty()) return;
    const Json& chosen = *fitting[fitting.size() / 2];
    take(fmt::format("{}/profile/calls?step={}&worker={}", run_, chosen.value("step", std::int64_t{0}),
                     encode_percent(chosen.value("worker", ""))));
  }

  void take_attention_lists() {
    layers_ = take_json(run_ + "/attention").value("layers", Json::array());
    const Json steps = take_json(run_ + "/attention/steps");
    if (layers_.empty()) return;
    steps_ = chosen_steps(steps_of(steps.value("steps", Json::array())));
    take(run_ + "/attention/metrics?item=0");
  }

  void take_attention() {
    for (const std::int64_t step : steps_) take(fmt::format("{}/attention/atlas?item=0&size=32&step={}", run_, step));
    for (const std::int64_t step : steps_) {
      for (const Json& layer : layers_) take_layer(layer.value("layer", 0), step);
    }
  }

  // Longer texts answer an error when they are asked for whole.
  void take_layer(int layer, std::int64_t step) {
    const std::string whole = fmt::format("{}/attention/head?item=0&layer={}&step={}", run_, layer, step);
    const auto few = answers_.ask(fmt::format("{}/attention/head?first=1&item=0&layer={}&step={}", run_, layer, step));
    if (!few.ok()) return;
    const bool is_short = tokens_in(*few->body) <= kWholeTokens;
    take(is_short ? whole
                  : fmt::format("{}/attention/head?first={}&item=0&layer={}&step={}", run_, kFirstTokens, layer, step));
  }

  // How many tokens the text has, by the answer about a part of it.
  static std::int64_t tokens_in(const std::string& document) {
    const auto header = format::decode_safetensors_header(as_bytes(document), document.size());
    if (!header.ok()) return 0;
    const auto length = header->metadata.find("length");
    return length == header->metadata.end() ? 0 : parse_int(length->second).value_or(0);
  }

  Answers& answers_;
  RunArchive& archive_;
  const std::string run_;
  const std::size_t most_bytes_;
  const Texts texts_;
  std::map<std::string, std::shared_ptr<const std::string>> taken_;
  Json listing_ = Json::object();  // of the tensors
  Json layers_ = Json::array();    // that have attention
  std::vector<std::int64_t> steps_;
};

}  // namespace

Result<RunArchive> archive_run(const storage::Location& run, const ArchiveChoice& choice) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto answers, open_answers(run));
  RunArchive archive;
  archive.run_name = run.name();
  Collector collector(*answers, archive, choice);
  if (choice.contents == Contents::kAll) {
    collector.collect();
    return archive;
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(std::string document, profile_document(run, choice.against));
  archive.profile = document;
  collector.collect_profile(std::make_shared<const std::string>(std::move(document)));
  return archive;
}

}  // namespace trainwarden::answers
