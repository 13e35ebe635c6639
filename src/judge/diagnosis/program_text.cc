#include "judge/diagnosis/program_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "data/format/json.h"

namespace trainwarden::diagnosis {
namespace {

using format::Json;

constexpr std::size_t kMaxText = std::size_t{8} << 20;
constexpr std::size_t kMaxEntries = 8192;

Status bad(std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("the examination's {} is not what the format says", what));
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}
std::int64_t int_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::vector<std::int64_t> ints_of(const Json& object, const char* key) {
  std::vector<std::int64_t> numbers;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return numbers;
  for (const Json& each : *found) {
    if (each.is_number_integer() && numbers.size() < 64) numbers.push_back(each.get<std::int64_t>());
  }
  return numbers;
}

void add_setting(std::map<std::string, double, std::less<>>& settings, const std::string& key, const Json& value) {
  if (value.is_boolean()) settings[key] = value.get<bool>() ? 1 : 0;
  if (value.is_number()) settings[key] = value.get<double>();
  if (!value.is_array()) return;
  for (std::size_t i = 0; i < std::min<std::size_t>(value.size(), 5); ++i) {
    if (value[i].is_number()) settings[fmt::format("{}/{}", key, i)] = value[i].get<double>();
  }
}

std::map<std::string, double, std::less<>> settings_of(const Json& object) {
  std::map<std::string, double, std::less<>> settings;
  if (!object.is_object()) return settings;
  for (const auto& [key, value] : object.items()) add_setting(settings, key, value);
  return settings;
}

// The objects of an array, at most so many; empty when there is none.
std::vector<const Json*> objects_of(const Json& object, const char* key) {
  std::vector<const Json*> objects;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return objects;
  for (const Json& each : *found) {
    if (each.is_object() && objects.size() < kMaxEntries) objects.push_back(&each);
  }
  return objects;
}

Module module_of(const Json& json) {
  const auto leaf = json.find("leaf");
  Module module{text_of(json, "name"),
                text_of(json, "kind"),
                text_of(json, "place"),
                leaf != json.end() && leaf->is_boolean() && leaf->get<bool>(),
                {}};
  if (const auto settings = json.find("settings"); settings != json.end()) module.settings = settings_of(*settings);
  return module;
}

Parameter parameter_of(const Json& json) {
  const auto trainable = json.find("trainable");
  return {text_of(json, "name"), ints_of(json, "shape"), text_of(json, "dtype"),
          trainable == json.end() || !trainable->is_boolean() || trainable->get<bool>(), ints_of(json, "optimizers")};
}

Optimizer optimizer_of(const Json& json) {
  const auto stepped = json.find("stepped");
  Optimizer optimizer{text_of(json, "kind"), {}};
  optimizer.has_stepped = stepped == json.end() || !stepped->is_boolean() || stepped->get<bool>();
  for (const Json* group : objects_of(json, "groups")) {
    optimizer.groups.push_back({int_of(*group, "parameters"), settings_of(*group)});
  }
  return optimizer;
}

Compared compared_of(const Json& json) {
  return {text_of(json, "function"), ints_of(json, "predicted"), ints_of(json, "target"),
          text_of(json, "predicted_dtype"), text_of(json, "target_dtype")};
}

Result<GraphNode> node_of(const Json& json, std::size_t count) {
  if (!json.is_array() || json.size() != 3 || !json[0].is_string() || !json[1].is_array() || !json[2].is_object()) {
    return bad("graph");
  }
  GraphNode node;
  node.operation = json[0].get<std::string>();
  for (const Json& from : json[1]) {
    if (!from.is_number_unsigned() || from.get<std::size_t>() >= count) return bad("graph");
    node.from.push_back(from.get<std::size_t>());
  }
  node.settings = settings_of(json[2]);
  node.sizes = ints_of(json[2], "sizes");
  if (const auto number = node.settings.find("number"); number != node.settings.end()) {
    node.number = static_cast<std::int64_t>(number->second);
  }
  return node;
}

}  // namespace

Result<Structure> read_structure(std::string_view text) {
  if (text.size() > kMaxText) return bad("structure");
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, format::parse_json_object(text, "the examination's structure"));
  Structure structure;
  structure.is_known = true;
  for (const Json* each : objects_of(json, "modules")) structure.modules.push_back(module_of(*each));
  for (const Json* each : objects_of(json, "parameters")) structure.parameters.push_back(parameter_of(*each));
  for (const Json* each : objects_of(json, "optimizers")) structure.optimizers.push_back(optimizer_of(*each));
  for (const Json* each : objects_of(json, "compared")) structure.compared.push_back(compared_of(*each));
  for (const Json* each : objects_of(json, "unregistered")) {
    structure.unregistered.push_back(
        {text_of(*each, "module"), text_of(*each, "attribute"), text_of(*each, "kind"), int_of(*each, "count")});
  }
  for (const Json* each : objects_of(json, "loaded")) {
    structure.loaded.push_back({text_of(*each, "kind"), int_of(*each, "wanted"), int_of(*each, "missing"),
                                int_of(*each, "unexpected"), int_of(*each, "itself"), int_of(*each, "statistics")});
  }
  if (const auto resumed = json.find("resumed"); resumed != json.end() && resumed->is_object()) {
    const auto fits = resumed->find("fits");
    structure.resumed = {int_of(*resumed, "optimizers"), int_of(*resumed, "given"),
                         fits != resumed->end() && fits->is_boolean() && fits->get<bool>()};
  }
  for (const Json* each : objects_of(json, "exchanged")) {
    structure.exchanged.push_back({text_of(*each, "from"), text_of(*each, "to"), text_of(*each, "what"),
                                   ints_of(*each, "given"), ints_of(*each, "taken")});
  }
  structure.foreign = int_of(json, "foreign");
  if (const auto layers = json.find("layers"); layers != json.end() && layers->is_array()) {
    for (const Json& each : *layers) {
      if (each.is_string() && structure.layers.size() < kMaxEntries)
        structure.layers.push_back(each.get<std::string>());
    }
  }
  if (const auto places = json.find("places"); places != json.end() && places->is_object()) {
    for (const auto& [key, value] : places->items()) {
      if (value.is_string() && structure.places.size() < 64) structure.places[key] = value.get<std::string>();
    }
  }
  return structure;
}

Result<Graph> read_graph(std::string_view text) {
  if (text.size() > kMaxText) return bad("graph");
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, format::parse_json_object(text, "the examination's graph"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* nodes, format::array_field(json, "nodes"));
  if (nodes->size() > kMaxEntries) return bad("graph");
  Graph graph;
  TRAINWARDEN_ASSIGN_OR_RETURN(graph.is_complete, format::bool_field(json, "complete"));
  for (const Json& each : *nodes) {
    TRAINWARDEN_ASSIGN_OR_RETURN(GraphNode node, node_of(each, nodes->size()));
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

Result<std::vector<std::pair<std::string, std::size_t>>> read_layout(std::string_view text) {
  if (text.size() > kMaxText) return bad("layout");
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, format::parse_json_object(text, "the examination's layout"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* entries, format::array_field(json, "layout"));
  std::vector<std::pair<std::string, std::size_t>> layout;
  for (const Json& each : *entries) {
    if (!each.is_array() || each.size() != 2 || !each[0].is_string() || !each[1].is_number_unsigned())
      return bad("layout");
    if (layout.size() >= kMaxEntries || each[1].get<std::size_t>() > (1u << 24)) return bad("layout");
    layout.emplace_back(each[0].get<std::string>(), each[1].get<std::size_t>());
  }
  return layout;
}

}  // namespace trainwarden::diagnosis
