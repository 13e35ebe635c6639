// A wiring as a TOML file has it.
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/toml_document.h"
#include "data/format/json.h"
#include "react/delivery/wiring.h"

namespace trainwarden::delivery {
namespace {

constexpr const char* kOn = "on";

// One file while it is read: for messages, and for paths that are relative to it.
class WiringReader {
 public:
  explicit WiringReader(const std::filesystem::path& file) : file_(file) {}

  Result<Wiring> read(const toml::table& root) {
    Wiring wiring;
    wiring.config = std::filesystem::absolute(file_).lexically_normal().string();
    for (const auto& [key, node] : root) {
      const std::string name(key.str());
      if (name == kOn) {
        TRAINWARDEN_RETURN_IF_ERROR(read_wires(node, wiring.wires));
      } else if (const toml::table* table = node.as_table()) {
        CommonParameters common{name, {}, fmt::format("{}, [{}]", where(node), printable(name))};
        TRAINWARDEN_RETURN_IF_ERROR(read_parameters(*table, {}, common.parameters));
        wiring.common.push_back(std::move(common));
      } else {
        return wrong(node, fmt::format("expected [[on]] or a table named after an action, found the key \"{}\"",
                                       printable(name)));
      }
    }
    return wiring;
  }

 private:
  std::string where(const toml::node& node) const { return place_in(file_, node); }

  Status wrong(const toml::node& node, std::string_view what) const {
    return Status(Code::kInvalidArgument, fmt::format("{}: {}", where(node), what));
  }

  Status read_wires(const toml::node& node, std::vector<Wire>& wires) {
    const toml::array* array = node.as_array();
    if (array == nullptr) return wrong(node, "expected [[on]], with two brackets on each side");
    for (const toml::node& element : *array) {
      const toml::table* table = element.as_table();
      if (table == nullptr) return wrong(element, "on: expected tables, [[on]]");
      TRAINWARDEN_RETURN_IF_ERROR(read_wire(*table, wires));
    }
    return {};
  }

  Status read_wire(const toml::table& table, std::vector<Wire>& wires) {
    Wire wire;
    wire.where = where(table);
    std::vector<std::string> actions;
    for (const auto& [key, node] : table) {
      const std::string_view name = key.str();
      if (name == "do") {
        TRAINWARDEN_RETURN_IF_ERROR(read_texts(node, "do", actions));
      } else if (name == "name") {
        if (!node.is_string()) return wrong(node, "name: expected a text");
        wire.name = node.as_string()->get();
      } else if (name == "rule") {
        TRAINWARDEN_RETURN_IF_ERROR(read_texts(node, "rule", wire.rules));
      } else if (name == "event") {
        TRAINWARDEN_RETURN_IF_ERROR(read_event(node, wire.event));
      } else {
        TRAINWARDEN_RETURN_IF_ERROR(read_parameter(name, node, wire.parameters));
      }
    }
    if (actions.empty()) return wrong(table, "[[on]] does nothing; write do = \"stop\"");
    if (!wire.rules.empty() && !wire.event.empty()) return wrong(table, "expected either rule or event, found both");
    if (wire.rules.empty() && wire.event.empty()) wire.rules = {"*"};
    if (actions.size() > 1) wire.together = actions;
    for (const std::string& action : actions) {
      wires.push_back(wire);
      wires.back().action = action;
      if (actions.size() > 1 && !wire.name.empty()) wires.back().name = fmt::format("{}-{}", wire.name, action);
    }
    return {};
  }

  // A text, or a list of at least one.
  Status read_texts(const toml::node& node, std::string_view name, std::vector<std::string>& texts) {
    if (const auto* text = node.as_string()) texts.push_back(text->get());
    if (const toml::array* array = node.as_array()) {
      for (const toml::node& element : *array) {
        if (!element.is_string()) return wrong(element, fmt::format("{}: expected a list of texts", name));
        texts.push_back(element.as_string()->get());
      }
    }
    if (texts.empty()) return wrong(node, fmt::format("{}: expected a text or a list of texts", name));
    for (const std::string& text : texts) {
      if (trim(text).empty()) return wrong(node, fmt::format("{}: expected a name, found an empty text", name));
    }
    return {};
  }

  Status read_event(const toml::node& node, std::string& event) {
    if (const auto* text = node.as_string()) {
      event = text->get();
      if (trim(event).empty()) return wrong(node, "event: expected a pattern, found an empty text");
      return {};
    }
    if (!node.is_table()) return wrong(node, "event: expected a table, or a pattern as JSON text");
    TRAINWARDEN_ASSIGN_OR_RETURN(const format::OrderedJson json, json_of(node));
    event = format::dump_json(json);
    return {};
  }

  Result<format::OrderedJson> json_of(const toml::node& node) {
    if (const toml::table* table = node.as_table()) {
      format::OrderedJson object = format::OrderedJson::object();
      for (const auto& [key, value] : *table) {
        TRAINWARDEN_ASSIGN_OR_RETURN(object[std::string(key.str())], json_of(value));
      }
      return object;
    }
    if (const toml::array* array = node.as_array()) {
      format::OrderedJson list = format::OrderedJson::array();
      for (const toml::node& element : *array) {
        TRAINWARDEN_ASSIGN_OR_RETURN(format::OrderedJson value, json_of(element));
        list.push_back(std::move(value));
      }
      return list;
    }
    if (const auto* text = node.as_string()) return format::OrderedJson(text->get());
    if (const auto* number = node.as_integer()) return format::OrderedJson(number->get());
    if (const auto* flag = node.as_boolean()) return format::OrderedJson(flag->get());
    if (const auto* number = node.as_floating_point(); number != nullptr && std::isfinite(number->get())) {
      return format::OrderedJson(number->get());
    }
    return wrong(node,
                 "event: expected texts, numbers, true, false, lists and tables (null needs a pattern as JSON text)");
  }

  Status read_parameters(const toml::table& table, const std::string& prefix, Parameters& parameters) {
    for (const auto& [key, node] : table) {
      TRAINWARDEN_RETURN_IF_ERROR(read_parameter(prefix + std::string(key.str()), node, parameters));
    }
    return {};
  }

  Status read_parameter(std::string_view name, const toml::node& node, Parameters& parameters) {
    if (const toml::table* table = node.as_table()) {
      const auto secret = secret_of(*table);
      if (!secret) return read_parameters(*table, std::string(name) + '.', parameters);
      parameters.insert_or_assign(std::string(name), *secret);
      return {};
    }
    std::vector<std::string> texts;
    if (const toml::array* array = node.as_array()) {
      for (const toml::node& element : *array) TRAINWARDEN_RETURN_IF_ERROR(read_text(name, element, texts));
    } else {
      TRAINWARDEN_RETURN_IF_ERROR(read_text(name, node, texts));
    }
    parameters.insert_or_assign(std::string(name), std::move(texts));
    return {};
  }

  // {env = "NAME"} or {file = "PATH"}, and nothing else in it. A relative path starts at the file's folder.
  std::optional<actions::Secret> secret_of(const toml::table& table) const {
    if (table.size() != 1) return std::nullopt;
    const auto* text = table.begin()->second.as_string();
    if (text == nullptr) return std::nullopt;
    const std::string_view key = table.begin()->first.str();
    if (key == "env") return actions::Secret::in_environment(text->get());
    if (key == "file") return actions::Secret::in_file((file_.parent_path() / text->get()).string());
    return std::nullopt;
  }

  // Any single value, as the text that it is.
  Status read_text(std::string_view name, const toml::node& node, std::vector<std::string>& texts) {
    if (const auto* text = node.as_string()) {
      texts.push_back(text->get());
    } else if (const auto* flag = node.as_boolean()) {
      texts.emplace_back(flag->get() ? "true" : "false");
    } else if (const auto* integer = node.as_integer()) {
      texts.push_back(std::to_string(integer->get()));
    } else if (const auto* number = node.as_floating_point()) {
      texts.push_back(fmt::format("{}", number->get()));
    } else {
      return wrong(node, fmt::format("{}: expected a text, a number, true, false, or a list of them", printable(name)));
    }
    return {};
  }

  std::filesystem::path file_;
};

}  // namespace

Result<Wiring> parse_wiring(std::string_view text, const std::filesystem::path& file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const toml::table root, parse_toml(text, file));
  return WiringReader(file).read(root);
}

Result<Wiring> read_wiring_file(const std::filesystem::path& file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, read_toml_text(file, "a TOML file with [[on]] tables"));
  return parse_wiring(text, file);
}

}  // namespace trainwarden::delivery
