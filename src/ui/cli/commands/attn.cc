// `trainwarden attn`: the attention of a run: one head as a picture or a film, what one query looks at, all heads by
// their numbers.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "read/transfer/output_file.h"
#include "ui/cli/commands/attn_command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/attention_view.h"
#include "ui/cli/terminal/color_option.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/views/attention/head_film.h"

namespace trainwarden::cli {
namespace {

using namespace views::attention;

struct AttnOptions {
  RunChoice run;
  std::optional<std::int64_t> layer;
  std::int64_t head = 0;
  std::optional<std::int64_t> step;
  std::string mode;
  std::int64_t item = 0;
  std::string query;
  std::int64_t top = 8;
  std::int64_t first = 20;
  std::string sort = "entropy";
  std::string file;
  std::string film;
  std::string color = "auto";
  bool metrics = false;
  bool json = false;
};

Result<RunAttention> open_attention(const AttnOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::filesystem::path path, options.run.locate());
  TRAINWARDEN_ASSIGN_OR_RETURN(auto trial, Trial::open(path));
  return RunAttention(std::make_shared<views::OpenRun>(run_name(path), std::move(trial)), options.file);
}

// As a global step.
Result<std::optional<std::int64_t>> wanted_step(const RunAttention& attention, const AttnOptions& options) {
  const Mode mode = mode_of(options.mode);
  if (mode == Mode::kGlobal) return options.step;
  if (!options.step) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto steps, attention.steps(mode));
    if (!steps.empty()) return std::optional(steps.back());
    return Status(Code::kOutOfRange, fmt::format("no step of mode {} has attention", name(mode)));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto step, attention.global_step(mode, *options.step));
  if (step) return step;
  return Status(Code::kOutOfRange, fmt::format("there is no step {} of mode {}", *options.step, name(mode)));
}

OrderedJson place_json(const RunAttention& attention, const AttentionStep& place) {
  return {{"run", attention.run().name()},
          {"step", place.step},
          {"mode", name(place.mode)},
          {"mode_step", place.mode_step}};
}

OrderedJson labels_json(const TokenLabels& labels) {
  return labels.texts.empty() ? OrderedJson() : OrderedJson(labels.texts);
}

OrderedJson head_json(const RunAttention& attention, const HeadLook& look, const LayerMap& layer) {
  OrderedJson document = place_json(attention, look.place);
  document["layer"] = look.layer;
  document["name"] = layer.name;
  document["head"] = look.heads.front();
  document["key_value_head"] = look.key_heads.front();
  document["item"] = look.item;
  document["items"] = look.items;
  document["length"] = look.query_length;
  document["key_length"] = look.key_length;
  document["recomputed"] = look.recomputed;
  document["tokens_query"] = labels_json(look.query_labels);
  document["tokens_key"] = labels_json(look.key_labels);
  document["tokens_note"] = look.query_labels.note.empty() ? look.key_labels.note : look.query_labels.note;
  return document;
}

OrderedJson weights_json(const HeadLook& look) {
  OrderedJson rows = OrderedJson::array();
  for (std::size_t at = 0; at < look.weights.size(); at += static_cast<std::size_t>(look.keys)) {
    OrderedJson row = OrderedJson::array();
    for (std::int64_t key = 0; key < look.keys; ++key) {
      row.push_back(json_number(static_cast<double>(look.weights[at + static_cast<std::size_t>(key)])));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Status show_query(const RunAttention& attention, const AttnOptions& options, const LayerMap& layer,
                  HeadQuestion question, std::int64_t wanted) {
  // The first row has the tokens that a text is looked for among.
  question.queries = {0};
  TRAINWARDEN_ASSIGN_OR_RETURN(const HeadLook probe, look_at_heads(attention, question));
  TRAINWARDEN_ASSIGN_OR_RETURN(const QueryChoice choice,
                               choose_query(options.query, probe.query_labels, probe.query_length));
  question.queries = {choice.query};
  TRAINWARDEN_ASSIGN_OR_RETURN(const HeadLook look, look_at_heads(attention, question));
  if (!options.json) {
    emit("{}", Lines{describe_head(look, layer, wanted)});
    if (!choice.note.empty()) emit("{}\n", choice.note);
    emit("{}", Lines{render_query(look, options.top, output_terminal(options.color))});
    return {};
  }
  OrderedJson document = head_json(attention, look, layer);
  document["query"] = choice.query;
  document["top"] = OrderedJson::array();
  for (const std::int64_t key : heaviest_keys(look, options.top)) {
    const auto at = static_cast<std::size_t>(key);
    const OrderedJson token =
        at < look.key_labels.texts.size() ? OrderedJson(look.key_labels.texts[at]) : OrderedJson();
    document["top"].push_back(
        {{"key", key}, {"token", token}, {"weight", json_number(static_cast<double>(look.weights[at]))}});
  }
  print_json(document);
  return {};
}

Status show_head(const RunAttention& attention, const AttnOptions& options, std::optional<std::int64_t> step) {
  HeadQuestion question{
      .layer = options.layer.value_or(0), .heads = {options.head}, .step = step, .item = options.item};
  TRAINWARDEN_ASSIGN_OR_RETURN(const LayerMap layer, attention.layer(question.layer));
  const std::int64_t wanted = step.value_or(-1);
  if (!options.query.empty()) return show_query(attention, options, layer, question, wanted);
  question.first = options.first;
  TRAINWARDEN_ASSIGN_OR_RETURN(const HeadLook look, look_at_heads(attention, question));
  if (!options.json) {
    emit("{}{}", Lines{describe_head(look, layer, wanted)}, Painted{render_head(look, output_terminal(options.color))});
    return {};
  }
  OrderedJson document = head_json(attention, look, layer);
  document["weights"] = weights_json(look);
  print_json(document);
  return {};
}

Status write_film(const RunAttention& attention, const AttnOptions& options) {
  const Mode mode = mode_of(options.mode);
  TRAINWARDEN_ASSIGN_OR_RETURN(
      const HeadFilm film,
      film_of_head(attention, {.layer = options.layer.value_or(0),
                               .head = options.head,
                               .item = options.item,
                               .first = options.first,
                               .mode = mode == Mode::kGlobal ? std::nullopt : std::optional(mode)}));
  transfer::OutputTally not_counted;
  TRAINWARDEN_RETURN_IF_ERROR(transfer::write_file(options.film, film.svg, not_counted));
  emit("{}: steps {} to {}, {} of them; open it in a browser\n", options.film, film.steps.front(), film.steps.back(),
       film.steps.size());
  return {};
}

Status show_metrics(const RunAttention& attention, const AttnOptions& options, std::optional<std::int64_t> step) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto map, attention.map());
  if (options.layer) TRAINWARDEN_RETURN_IF_ERROR(attention.layer(*options.layer).status());
  TRAINWARDEN_ASSIGN_OR_RETURN(const AtlasLook look, look_at_atlas(attention, step, options.item, 1));
  const auto order = static_cast<std::size_t>(std::find(kMetricNames.begin(), kMetricNames.end(), options.sort) -
                                              kMetricNames.begin());
  const std::vector<SurveyedHead> heads = list_heads(look.atlas->survey, *map, options.layer, order);
  if (!options.json) {
    emit("step {} ({} {})  item {}  {} tokens  by {}\n", look.place.step, name(look.place.mode), look.place.mode_step,
         options.item, look.atlas->query_length, options.sort);
    if (!look.atlas->note.empty()) emit("{}\n", look.atlas->note);
    emit("{}", Lines{render_heads(heads)});
    return {};
  }
  OrderedJson document = place_json(attention, look.place);
  document["item"] = options.item;
  document["length"] = look.atlas->query_length;
  document["heads"] = OrderedJson::array();
  for (const SurveyedHead& head : heads) {
    OrderedJson numbers = {{"layer", head.layer}, {"head", head.head}};
    for (std::size_t i = 0; i < kMetricCount; ++i) {
      numbers[std::string(kMetricNames[i])] = json_number(static_cast<double>(head.metrics[i]));
    }
    document["heads"].push_back(std::move(numbers));
  }
  print_json(document);
  return {};
}

Status show(const AttnOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunAttention attention, open_attention(options));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto map, attention.map());
  if (map->layers.empty()) return {Code::kFailedPrecondition, map->note};
  if (!map->note.empty()) emit(stderr, "{}\n", map->note);
  if (!options.film.empty()) return write_film(attention, options);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto step, wanted_step(attention, options));
  return options.metrics ? show_metrics(attention, options, step) : show_head(attention, options, step);
}

int act(const AttnOptions& options) {
  const Status shown = show(options);
  return shown.ok() ? kExitFine : report_error(shown);
}

CLI::Validator at_least(std::int64_t least) {
  const auto problem_of = [least](std::string& text) {
    const auto number = parse_int(text);
    if (number && *number >= least) return std::string();
    return fmt::format("expected a whole number from {}, found \"{}\"", least, printable(text));
  };
  return {problem_of, ""};
}

}  // namespace

void add_attn(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<AttnOptions>();
  AttnOptions& o = *options;
  CLI::App& command =
      add_command(app, "attn", "Show what attention heads look at, and how they stand", options, action, act);
  command.group(kLookGroup);
  add_run_choice(command, o.run);
  command.add_option("-l,--layer", o.layer, "Layer, from 0 (default: 0; with --metrics: all)")
      ->type_name("N")
      ->check(at_least(0));
  command.add_option("-H,--head", o.head, "Head, from 0 (default: 0)")->type_name("N")->check(at_least(0));
  CLI::Option* step =
      command.add_option("--step", o.step, "Step of --mode, else global step (default: the newest with attention)")
          ->type_name("N")
          ->check(at_least(0));
  add_mode_option(command, o.mode);
  command.add_option("--item", o.item, "Which one of the batch (default: 0)")->type_name("N")->check(at_least(0));
  command.add_option("--first", o.first, "The first N tokens (default: 20)")->type_name("N")->check(at_least(1));
  CLI::Option* query =
      command.add_option("--query", o.query, "What this token looks at: its number, or its text")->type_name("TOKEN");
  command.add_option("--top", o.top, "With --query: so many keys (default: 8)")->type_name("K")->check(at_least(1));
  CLI::Option* metrics = command.add_flag("--metrics", o.metrics, "All heads by their numbers in place of one head");
  metrics->excludes(query);
  command.add_option("--sort", o.sort, "With --metrics: by this one, lowest first (default: entropy)")
      ->type_name("METRIC")
      ->check(CLI::IsMember(std::vector<std::string>(kMetricNames.begin(), kMetricNames.end())));
  command.add_option("--film", o.film, "Write the head over all steps to FILE, an SVG that a browser plays")
      ->type_name("FILE")
      ->excludes(query, metrics, step);
  command
      .add_option("--attention", o.file, "Which tensors are what (default: attention.toml of the run, else a guess)")
      ->type_name("FILE");
  add_color_option(command, o.color);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden attn bert", "trainwarden attn bert -l 3 -H 5 --step 40 --first 30",
                         "trainwarden attn bert -l 3 -H 5 --query '[CLS]' --top 5",
                         "trainwarden attn bert --metrics --sort sink",
                         "trainwarden attn bert -l 6 -H 0 --mode eval --film head.svg"});
}

}  // namespace trainwarden::cli
