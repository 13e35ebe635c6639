// Confusion matrices, and how two runs compare.
#include <limits>

#include <fmt/format.h>

#include "read/trial/trial_access.h"
#include "ui/answers/insight_json.h"
#include "ui/answers/long_work.h"
#include "ui/answers/replies.h"
#include "ui/answers/route.h"
#include "ui/views/compare.h"
#include "ui/views/confused_samples.h"
#include "ui/views/confusion.h"

namespace trainwarden::answers {
namespace {

using format::OrderedJson;

constexpr std::int64_t kMaxStep = (1LL << 53) - 1;
constexpr std::int64_t kMostClasses = 1'000;
constexpr std::int64_t kUsualClasses = 200;
constexpr std::int64_t kMostSamples = 500;
constexpr std::int64_t kUsualSamples = 50;

OrderedJson json_of(const std::vector<views::GuessedTensor>& tensors) {
  OrderedJson list = OrderedJson::array();
  for (const views::GuessedTensor& tensor : tensors) {
    list.push_back({{"id", views::tensor_id_of(tensor.name)}, {"name", tensor.name}, {"reason", tensor.reason}});
  }
  return list;
}

// [first, stride, count], ...
OrderedJson strides_of(const std::vector<std::int64_t>& steps) {
  OrderedJson list = OrderedJson::array();
  for (std::size_t i = 0; i < steps.size();) {
    const std::int64_t stride = i + 1 < steps.size() ? steps[i + 1] - steps[i] : 1;
    std::size_t end = i + 1;
    while (end < steps.size() && steps[end] - steps[end - 1] == stride) ++end;
    list.push_back({steps[i], stride, end - i});
    i = end;
  }
  return list;
}

struct ChosenTensors {
  std::string labels;
  std::string predictions;
};

// The ones that are asked for by id, else those that are guessed.
Result<ChosenTensors> chosen_tensors(const views::OpenRun::Use& use, const views::Query& query,
                                     const views::ConfusionGuess& guess) {
  ChosenTensors chosen;
  if (query.has("labels")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(chosen.labels, use.tensor_name(query.text("labels")));
  } else if (!guess.labels.empty()) {
    chosen.labels = guess.labels.front().name;
  }
  if (query.has("predictions")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(chosen.predictions, use.tensor_name(query.text("predictions")));
  } else if (!guess.predictions.empty()) {
    chosen.predictions = guess.predictions.front().name;
  }
  return chosen;
}

// What the guess costs grows with the run: once for each state of it.
struct GuessOfRun {
  std::uint64_t version = 0;
  views::ConfusionGuess guess;
};

const views::ConfusionGuess& guess_of(const views::OpenRun::Use& use) {
  GuessOfRun& memory = use.memory<GuessOfRun>();
  if (memory.version != use.version() && memory.guess.labels.empty()) {
    memory.guess = views::guess_confusion(use.trial());
    memory.version = use.version();
  }
  return memory.guess;
}

Result<Reply> get_confusion_tensors(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"labels", "predictions", "mode"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto mode, request.query.mode());
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  const views::ConfusionGuess& guess = guess_of(use);
  TRAINWARDEN_ASSIGN_OR_RETURN(const ChosenTensors chosen, chosen_tensors(use, request.query, guess));
  const auto json_of_chosen = [](const std::string& name) {
    return name.empty() ? OrderedJson(nullptr) : OrderedJson{{"id", views::tensor_id_of(name)}, {"name", name}};
  };
  OrderedJson steps = OrderedJson::array();
  if (!chosen.labels.empty() && !chosen.predictions.empty()) {
    steps = strides_of(views::confusion_steps(use.trial(), chosen.labels, chosen.predictions, mode));
  }
  return json_reply({{"labels", json_of_chosen(chosen.labels)},
                     {"predictions", json_of_chosen(chosen.predictions)},
                     {"candidates", {{"labels", json_of(guess.labels)}, {"predictions", json_of(guess.predictions)}}},
                     {"steps", std::move(steps)}});
}

Result<views::ConfusionRange> range_of(const views::Query& query) {
  views::ConfusionRange range;
  TRAINWARDEN_ASSIGN_OR_RETURN(range.from, query.integer("from", 0, kMaxStep, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(range.to, query.integer("to", 0, kMaxStep, kMaxStep));
  TRAINWARDEN_ASSIGN_OR_RETURN(range.mode, query.mode());
  return range;
}

Result<ChosenTensors> needed_tensors(const views::OpenRun::Use& use, const views::Query& query) {
  TRAINWARDEN_ASSIGN_OR_RETURN(ChosenTensors chosen, chosen_tensors(use, query, guess_of(use)));
  if (!chosen.labels.empty() && !chosen.predictions.empty()) return chosen;
  return Status(Code::kNotFound,
                "no tensors of labels and predictions were found by their names; say with labels= and predictions= "
                "which they are");
}

Result<Reply> get_confusion(const Request& request, const Services& services) {
  const views::Query& query = request.query;
  TRAINWARDEN_RETURN_IF_ERROR(query.only({"labels", "predictions", "from", "to", "mode", "classes"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::ConfusionRange range, range_of(query));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t classes, query.integer("classes", 2, kMostClasses, kUsualClasses));
  views::ConfusionLimits limits;
  limits.classes = static_cast<std::size_t>(classes);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const ChosenTensors chosen, needed_tensors(use, query));
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::Confusion confusion,
                               views::count_confusion(use.trial(), chosen.labels, chosen.predictions, range, limits));
  return reply_of(confusion, views::class_names(use.trial()));
}

Result<Reply> get_confused_samples(const Request& request, const Services& services) {
  const views::Query& query = request.query;
  TRAINWARDEN_RETURN_IF_ERROR(
      query.only({"labels", "predictions", "from", "to", "mode", "actual", "predicted", "limit"}));
  views::SampleQuestion question;
  TRAINWARDEN_ASSIGN_OR_RETURN(question.range, range_of(query));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.actual, query.required_integer("actual", -kMaxStep, kMaxStep));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.predicted, query.required_integer("predicted", -kMaxStep, kMaxStep));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t limit, query.integer("limit", 1, kMostSamples, kUsualSamples));
  question.most = static_cast<std::size_t>(limit);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const ChosenTensors chosen, needed_tensors(use, query));
  question.labels = chosen.labels;
  question.predictions = chosen.predictions;
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::ConfusedSamples found, views::confused_samples(use.trial(), question));
  OrderedJson samples = OrderedJson::array();
  for (const views::ConfusedSample& sample : found.samples) {
    samples.push_back({{"step", sample.global_step}, {"worker", sample.worker}, {"place", sample.place}});
  }
  return json_reply({{"samples", std::move(samples)}, {"more", found.more}});
}

// With trials of its own, so that nobody who looks at the runs waits.
Result<Reply> get_compare(const Request& request, const Services& services) {
  const views::Query& query = request.query;
  TRAINWARDEN_RETURN_IF_ERROR(query.only({"a", "b", "tolerance", "from"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string a, query.required_text("a"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string b, query.required_text("b"));
  views::CompareQuestion question;
  TRAINWARDEN_ASSIGN_OR_RETURN(question.tolerance, query.number("tolerance", 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.from, query.integer("from", 0, kMaxStep, 0));
  if (!(question.tolerance >= 0 && question.tolerance <= 1)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("parameter tolerance: expected a number from 0 to 1, found {}", question.tolerance));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto run_a, services.shelf.run(a));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto run_b, services.shelf.run(b));
  const LongWork turn;
  TRAINWARDEN_RETURN_IF_ERROR(turn.status());
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial_a, TrialAccess::open(run_a->location()));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial_b, TrialAccess::open(run_b->location()));
  OrderedJson json = {{"a", {{"id", a}, {"name", run_a->name()}}},
                      {"b", {{"id", b}, {"name", run_b->name()}}},
                      {"tolerance", question.tolerance}};
  json.update(answers::json_of(views::compare_runs(*trial_a, *trial_b, question)));
  return json_reply(json);
}

}  // namespace

std::vector<Route> insight_routes() {
  return {
      {Method::kGet, "/runs/{run}/confusion/tensors", get_confusion_tensors},
      {Method::kGet, "/runs/{run}/confusion", get_confusion},
      {Method::kGet, "/runs/{run}/confusion/samples", get_confused_samples},
      {Method::kGet, "/compare", get_compare},
  };
}

}  // namespace trainwarden::answers
