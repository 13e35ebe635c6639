// Routes of attention: the map, heads, rows, neurons, the atlas of all heads, metrics over steps, tiles, films.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/answers/long_work.h"
#include "ui/answers/replies.h"
#include "ui/answers/route.h"
#include "ui/views/attention/head_film.h"
#include "ui/views/attention/head_look.h"
#include "ui/views/attention/neuron_look.h"
#include "ui/views/attention/rollout.h"
#include "ui/views/attention/run_attention.h"
#include "ui/views/attention/survey.h"
#include "ui/views/attention/tiles.h"

namespace trainwarden::answers {
namespace {

using format::OrderedJson;
using namespace views::attention;

constexpr std::int64_t kMostTokens = std::int64_t{1} << 31;
constexpr std::int64_t kMostStep = std::int64_t{1} << 53;  // what a JSON number holds exactly
constexpr std::size_t kMostListed = 4096;
constexpr std::int64_t kAtlasSize = 32;
constexpr std::chrono::milliseconds kMetricsPatience{1500};  // of who waits for metrics over steps

Result<RunAttention> attention_of(const Request& request, const Services& services) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto run, services.shelf.run(request.in_path("run")));
  return RunAttention(std::move(run), services.shelf.attention_file());
}

Result<std::optional<std::int64_t>> optional_integer(const views::Query& query, std::string_view name,
                                                     std::int64_t lowest, std::int64_t highest) {
  if (!query.has(name)) return std::optional<std::int64_t>();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t number, query.required_integer(name, lowest, highest));
  return std::optional(number);
}

OrderedJson tensor_json(const std::string& name) {
  if (name.empty()) return nullptr;
  return {{"id", views::tensor_id_of(name)}, {"name", name}};
}

OrderedJson layer_json(std::size_t index, const LayerMap& layer) {
  OrderedJson json = {{"layer", index},
                      {"name", layer.name},
                      {"attention", tensor_json(layer.attention)},
                      {"query", tensor_json(layer.query)},
                      {"key", tensor_json(layer.key)},
                      {"heads", layer.heads},
                      {"key_value_heads", layer.key_value_heads},
                      {"head_size", layer.head_size},
                      {"scale", layer.scale},
                      {"mask", name(layer.mask)},
                      {"layout", name(layer.layout)}};
  if (layer.mask == MaskKind::kWindow) json["window"] = layer.window;
  return json;
}

OrderedJson candidates_json(const std::vector<Candidate>& candidates) {
  OrderedJson json = OrderedJson::array();
  for (const Candidate& candidate : candidates) {
    json.push_back(
        {{"id", views::tensor_id_of(candidate.name)}, {"name", candidate.name}, {"reason", candidate.reason}});
  }
  return json;
}

Result<Reply> get_map(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunAttention attention, attention_of(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto map, attention.map());
  OrderedJson layers = OrderedJson::array();
  for (std::size_t i = 0; i < map->layers.size(); ++i) layers.push_back(layer_json(i, map->layers[i]));
  const Candidates& candidates = map->candidates;
  return json_reply({{"source", name(map->source)},
                     {"note", map->note},
                     {"layers", std::move(layers)},
                     {"tokens", tensor_json(map->tokens)},
                     {"key_tokens", tensor_json(map->key_tokens)},
                     {"candidates",
                      {{"attention", candidates_json(candidates.attention)},
                       {"query", candidates_json(candidates.query)},
                       {"key", candidates_json(candidates.key)},
                       {"tokens", candidates_json(candidates.tokens)}}}});
}

Result<Reply> get_steps(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunAttention attention, attention_of(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto all, attention.steps());
  OrderedJson modes = OrderedJson::array();
  for (const Mode mode : {Mode::kTrain, Mode::kEval, Mode::kPredict}) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto steps, attention.steps(mode));
    if (!steps.empty()) modes.push_back({{"mode", name(mode)}, {"steps", step_ranges_json(views::fold_steps(steps))}});
  }
  return json_reply({{"steps", step_ranges_json(views::fold_steps(all))}, {"modes", std::move(modes)}});
}

void note_number(ArraysReply& reply, std::string key, std::int64_t number) {
  reply.note(std::move(key), std::to_string(number));
}

void note_place(ArraysReply& reply, const AttentionStep& place) {
  note_number(reply, "step", place.step);
  reply.note("mode", std::string(name(place.mode)));
  note_number(reply, "mode_step", place.mode_step);
}

void note_labels(ArraysReply& reply, const TokenLabels& query, const TokenLabels& key) {
  if (!query.texts.empty()) reply.note_json("tokens_query", query.texts);
  if (!key.texts.empty()) reply.note_json("tokens_key", key.texts);
  const std::string& note = query.note.empty() ? key.note : query.note;
  if (!note.empty()) reply.note("tokens_note", note);
}

Reply reply_with(ArraysReply arrays, const AttentionStep& place) {
  Reply reply = std::move(arrays).to_reply();
  reply.immutable = place.asked_for;
  return reply;
}

Reply heads_reply(const HeadLook& look) {
  ArraysReply arrays;
  const auto matrices =
      static_cast<std::int64_t>(std::max<std::size_t>(look.heads.size(), 1));  // a rollout has no heads
  const std::vector<std::int64_t> shape = {matrices, static_cast<std::int64_t>(look.queries.size()), look.keys};
  arrays.add("weights", shape, look.weights);
  note_number(arrays, "layer", look.layer);
  if (!look.heads.empty()) {
    arrays.note_json("heads", look.heads);
    arrays.note_json("key_value_head", look.key_heads);
  }
  arrays.note_json("queries", look.queries);
  note_place(arrays, look.place);
  note_number(arrays, "item", look.item);
  note_number(arrays, "items", look.items);
  note_number(arrays, "length", look.query_length);
  note_number(arrays, "key_length", look.key_length);
  arrays.note("recomputed", look.recomputed ? "true" : "false");
  note_labels(arrays, look.query_labels, look.key_labels);
  return reply_with(std::move(arrays), look.place);
}

// What head and rows have in common.
Result<HeadQuestion> head_question(const views::Query& query) {
  HeadQuestion question;
  TRAINWARDEN_ASSIGN_OR_RETURN(question.layer, query.integer("layer", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.heads, query.integers("heads", 0, kMostTokens, kMostListed));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.step, optional_integer(query, "step", 0, kMostStep));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.item, query.integer("item", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.first, optional_integer(query, "first", 1, kMostTokens));
  return question;
}

Result<Reply> get_heads(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"layer", "heads", "step", "item", "first"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const HeadQuestion question, head_question(request.query));
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunAttention attention, attention_of(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const HeadLook look, look_at_heads(attention, question));
  return heads_reply(look);
}

Result<Reply> get_rows(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"layer", "heads", "step", "item", "first", "queries"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(HeadQuestion question, head_question(request.query));
  TRAINWARDEN_RETURN_IF_ERROR(request.query.required_text("queries").status());
  TRAINWARDEN_ASSIGN_OR_RETURN(question.queries, request.query.integers("queries", 0, kMostTokens, kMostListed));
  if (question.queries->empty())
    return Status(Code::kInvalidArgument, "parameter \"queries\": expected numbers, found none");
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunAttention attention, attention_of(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const HeadLook look, look_at_heads(attention, question));
  return heads_reply(look);
}

Result<Reply> get_rollout(const Request& request, const Services& services) {
  const views::Query& query = request.query;
  TRAINWARDEN_RETURN_IF_ERROR(query.only({"layer", "step", "item", "first"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const HeadQuestion words, head_question(query));
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunAttention attention, attention_of(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(
      const HeadLook look,
      look_at_rollout(attention, {.layer = words.layer, .step = words.step, .item = words.item, .first = words.first}));
  return heads_reply(look);
}

Reply neuron_reply(const NeuronLook& look) {
  ArraysReply arrays;
  arrays.add("query", {look.head_size}, look.query_vector);
  arrays.add("key", {look.keys, look.head_size}, look.key_vectors);
  arrays.add("product", {look.keys, look.head_size}, look.product);
  arrays.add("dot", {look.keys}, look.dot);
  arrays.add("scaled", {look.keys}, look.scaled);
  arrays.add("softmax", {look.keys}, look.softmax);
  if (!look.captured.empty()) arrays.add("captured", {look.keys}, look.captured);
  note_number(arrays, "layer", look.layer);
  note_number(arrays, "head", look.head);
  note_number(arrays, "key_value_head", look.key_head);
  arrays.note_json("scale", look.scale);
  note_place(arrays, look.place);
  note_number(arrays, "item", look.item);
  note_number(arrays, "items", look.items);
  note_number(arrays, "query", look.query);
  note_number(arrays, "length", look.query_length);
  note_number(arrays, "key_length", look.key_length);
  note_labels(arrays, look.query_labels, look.key_labels);
  return reply_with(std::move(arrays), look.place);
}

Result<Reply> get_neuron(const Request& request, const Services& services) {
  const views::Query& query = request.query;
  TRAINWARDEN_RETURN_IF_ERROR(query.only({"layer", "head", "step", "item", "query", "first"}));
  NeuronQuestion question;
  TRAINWARDEN_ASSIGN_OR_RETURN(question.layer, query.integer("layer", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.head, query.integer("head", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.step, optional_integer(query, "step", 0, kMostStep));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.item, query.integer("item", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.query, query.integer("query", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.first, optional_integer(query, "first", 1, kMostTokens));
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunAttention attention, attention_of(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const NeuronLook look, look_at_neuron(attention, question));
  return neuron_reply(look);
}

void append_metrics(std::vector<float>& numbers, const Survey& survey) {
  for (const HeadMetrics& metrics : survey.metrics) numbers.insert(numbers.end(), metrics.begin(), metrics.end());
}

constexpr auto kMetrics = static_cast<std::int64_t>(kMetricCount);

Result<Reply> get_atlas(const Request& request, const Services& services) {
  const views::Query& query = request.query;
  TRAINWARDEN_RETURN_IF_ERROR(query.only({"step", "item", "size"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto step, optional_integer(query, "step", 0, kMostStep));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t item, query.integer("item", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t size, query.integer("size", 1, kMostAtlasSize, kAtlasSize));
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunAttention attention, attention_of(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const AtlasLook look, look_at_atlas(attention, step, item, size));
  const Atlas& atlas = *look.atlas;
  const Survey& survey = atlas.survey;
  ArraysReply arrays;
  arrays.add("max", {survey.layers, survey.heads, size, size}, atlas.max);
  arrays.add("mean", {survey.layers, survey.heads, size, size}, atlas.mean);
  std::vector<float> numbers;
  append_metrics(numbers, survey);
  arrays.add("metrics", {survey.layers, survey.heads, kMetrics}, numbers);
  arrays.note_json("metrics", kMetricNames);
  note_place(arrays, look.place);
  note_number(arrays, "item", item);
  note_number(arrays, "length", atlas.query_length);
  note_number(arrays, "key_length", atlas.key_length);
  if (!atlas.note.empty()) arrays.note("note", atlas.note);
  return reply_with(std::move(arrays), look.place);
}

Result<Reply> get_metrics(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"item"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t item, request.query.integer("item", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunAttention attention, attention_of(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const MetricsOverSteps over, measure_steps(attention, item, kMetricsPatience));
  const std::vector<double> steps(over.steps.begin(), over.steps.end());
  const auto count = static_cast<std::int64_t>(steps.size());
  std::vector<float> numbers;
  for (const auto& survey : over.surveys) append_metrics(numbers, *survey);
  ArraysReply arrays;
  arrays.add("steps", {count}, steps);
  arrays.add("metrics", {count, over.layers, over.heads, kMetrics}, numbers);
  arrays.note_json("metrics", kMetricNames);
  note_number(arrays, "item", item);
  note_number(arrays, "pending", over.pending);
  if (!over.note.empty()) arrays.note("note", over.note);
  return std::move(arrays).to_reply();
}

Result<Reply> get_tile(const Request& request, const Services& services) {
  const views::Query& query = request.query;
  TRAINWARDEN_RETURN_IF_ERROR(query.only({"layer", "head", "step", "item", "level", "row", "column"}));
  TileQuestion question;
  TRAINWARDEN_ASSIGN_OR_RETURN(question.layer, query.integer("layer", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.head, query.integer("head", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.step, optional_integer(query, "step", 0, kMostStep));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.item, query.integer("item", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.level, query.integer("level", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.row, query.integer("row", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.column, query.integer("column", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunAttention attention, attention_of(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Tile tile, look_at_tile(attention, question));
  ArraysReply arrays;
  arrays.add("max", {tile.plane.rows, tile.plane.columns}, tile.plane.max);
  arrays.add("mean", {tile.plane.rows, tile.plane.columns}, tile.plane.mean);
  note_place(arrays, tile.place);
  note_number(arrays, "layer", question.layer);
  note_number(arrays, "head", question.head);
  note_number(arrays, "item", question.item);
  note_number(arrays, "length", tile.query_length);
  note_number(arrays, "key_length", tile.key_length);
  note_number(arrays, "levels", tile.levels);
  note_number(arrays, "level", question.level);
  note_number(arrays, "row", question.row);
  note_number(arrays, "column", question.column);
  return reply_with(std::move(arrays), tile.place);
}

Result<Reply> get_film(const Request& request, const Services& services) {
  const views::Query& query = request.query;
  TRAINWARDEN_RETURN_IF_ERROR(query.only({"layer", "head", "item", "first"}));
  FilmQuestion question;
  TRAINWARDEN_ASSIGN_OR_RETURN(question.layer, query.integer("layer", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.head, query.integer("head", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.item, query.integer("item", 0, kMostTokens, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.first, query.integer("first", 1, kMostFilmTokens, question.first));
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunAttention attention, attention_of(request, services));
  const LongWork turn;
  TRAINWARDEN_RETURN_IF_ERROR(turn.status());
  TRAINWARDEN_ASSIGN_OR_RETURN(HeadFilm film, film_of_head(attention, question));
  Reply reply;
  reply.type = "image/svg+xml";
  reply.file_name =
      fmt::format("{}-attention-layer{}-head{}-film.svg", attention.run().name(), question.layer, question.head);
  reply.body = std::make_shared<const std::string>(std::move(film.svg));
  return reply;
}

}  // namespace

std::vector<Route> attention_routes() {
  return {
      {Method::kGet, "/runs/{run}/attention", get_map},
      {Method::kGet, "/runs/{run}/attention/steps", get_steps},
      {Method::kGet, "/runs/{run}/attention/head", get_heads},
      {Method::kGet, "/runs/{run}/attention/rows", get_rows},
      {Method::kGet, "/runs/{run}/attention/rollout", get_rollout},
      {Method::kGet, "/runs/{run}/attention/neuron", get_neuron},
      {Method::kGet, "/runs/{run}/attention/atlas", get_atlas},
      {Method::kGet, "/runs/{run}/attention/metrics", get_metrics},
      {Method::kGet, "/runs/{run}/attention/tile", get_tile},
      {Method::kGet, "/runs/{run}/attention/film", get_film},
  };
}

}  // namespace trainwarden::answers
