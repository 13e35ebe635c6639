#include "ui/views/attention/mapping_file.h"

#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/toml_document.h"

namespace trainwarden::views::attention {
namespace {

constexpr std::int64_t kMostHeads = 1 << 16;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 32;
constexpr std::string_view kLayerPlaceholder = "{layer}";

class MappingReader {
 public:
  explicit MappingReader(const std::filesystem::path& file) { mapping_.file = file; }

  Result<MappingFile> read(const toml::table& root) {
    const toml::node* layers = nullptr;
    for (const auto& [key, node] : root) {
      const std::string_view name = key.str();
      if (name == "tokens") {
        TRAINWARDEN_RETURN_IF_ERROR(read_name(node, name, mapping_.tokens));
      } else if (name == "key_tokens") {
        TRAINWARDEN_RETURN_IF_ERROR(read_name(node, name, mapping_.key_tokens));
      } else if (name == "layer") {
        layers = &node;
      } else {
        TRAINWARDEN_RETURN_IF_ERROR(read_field(name, node, mapping_.common));
      }
    }
    TRAINWARDEN_RETURN_IF_ERROR(check_common(root));
    if (layers != nullptr) TRAINWARDEN_RETURN_IF_ERROR(read_layers(*layers));
    return std::move(mapping_);
  }

 private:
  Status wrong(const toml::node& node, std::string_view what) const {
    return {Code::kInvalidArgument, fmt::format("{}: {}", place_in(mapping_.file, node), what)};
  }

  Status read_layers(const toml::node& node) {
    const toml::array* array = node.as_array();
    if (array == nullptr) return wrong(node, "expected [[layer]], with two brackets on each side");
    const LayerWish& common = mapping_.common;
    if (!common.attention.empty() || !common.query.empty() || !common.key.empty()) {
      return wrong(node, "expected either names of tensors for all layers or [[layer]] tables, found both");
    }
    for (const toml::node& element : *array) {
      const toml::table* table = element.as_table();
      if (table == nullptr) return wrong(element, "layer: expected tables, [[layer]]");
      LayerWish layer = common;
      for (const auto& [key, field] : *table) {
        if (key.str() == "name") {
          TRAINWARDEN_RETURN_IF_ERROR(read_name(field, "name", layer.name));
        } else {
          TRAINWARDEN_RETURN_IF_ERROR(read_field(key.str(), field, layer));
        }
      }
      TRAINWARDEN_RETURN_IF_ERROR(check_names(*table, layer, true));
      if (layer.name.empty()) layer.name = fmt::format("layer {}", mapping_.layers.size());
      mapping_.layers.push_back(std::move(layer));
      mapping_.places.push_back(place_in(mapping_.file, *table));
    }
    return {};
  }

  Status check_common(const toml::table& root) const {
    const LayerWish& common = mapping_.common;
    TRAINWARDEN_RETURN_IF_ERROR(check_names(root, common, false));
    const bool in_key = common.key.find(kLayerPlaceholder) != std::string::npos;
    const bool in_query = common.query.find(kLayerPlaceholder) != std::string::npos;
    const bool in_attention = common.attention.find(kLayerPlaceholder) != std::string::npos;
    const bool unlike_queries = !common.query.empty() && in_key != in_query;
    const bool unlike_attention = !common.query.empty() && !common.attention.empty() && in_attention != in_query;
    if (unlike_queries || unlike_attention)
      return wrong(root, "expected {layer} in each of the names of tensors, or in none");
    return {};
  }

  Status check_names(const toml::table& table, const LayerWish& layer, bool must_name) const {
    if (layer.query.empty() != layer.key.empty()) {
      return wrong(table,
                   fmt::format("expected query and key together, found {} alone", layer.key.empty() ? "query" : "key"));
    }
    if (must_name && layer.attention.empty() && layer.query.empty()) {
      return wrong(table, "[[layer]]: expected attention = \"NAME\", or query and key");
    }
    return {};
  }

  Status read_field(std::string_view name, const toml::node& node, LayerWish& layer) {
    if (name == "attention") return read_name(node, name, layer.attention);
    if (name == "query") return read_name(node, name, layer.query);
    if (name == "key") return read_name(node, name, layer.key);
    if (name == "heads") return read_count(node, name, kMostHeads, layer.heads);
    if (name == "key_value_heads") return read_count(node, name, kMostHeads, layer.key_value_heads);
    if (name == "head_size") return read_count(node, name, kMostTokens, layer.head_size);
    if (name == "window") return read_count(node, name, kMostTokens, layer.window);
    if (name == "scale") return read_scale(node, layer.scale);
    if (name == "mask")
      return read_word(node, name, {MaskKind::kNone, MaskKind::kCausal, MaskKind::kWindow}, layer.mask);
    if (name == "layout") return read_word(node, name, {Layout::kBHTD, Layout::kBTHD, Layout::kBTD}, layer.layout);
    static const std::vector<std::string> kKnown = {
        "attention",       "query", "key",  "tokens", "key_tokens", "heads", "head_size",
        "key_value_heads", "scale", "mask", "window", "layout",     "layer"};
    return wrong(node, fmt::format("there is no \"{}\" here{}", printable(name), did_you_mean(name, kKnown)));
  }

  Status read_name(const toml::node& node, std::string_view name, std::string& text) const {
    if (!node.is_string() || node.as_string()->get().empty()) {
      return wrong(node, fmt::format("{}: expected the name of a tensor, a text", name));
    }
    text = node.as_string()->get();
    return {};
  }

  Status read_count(const toml::node& node, std::string_view name, std::int64_t most,
                    std::optional<std::int64_t>& count) const {
    const auto* number = node.as_integer();
    if (number == nullptr || number->get() < 1 || number->get() > most) {
      return wrong(node, fmt::format("{}: expected a whole number from 1 to {}", name, most));
    }
    count = number->get();
    return {};
  }

  Status read_scale(const toml::node& node, std::optional<double>& scale) const {
    const std::optional<double> number = node.value<double>();
    if (!node.is_number() || !number || !std::isfinite(*number)) {
      return wrong(node, "scale: expected a number (by default 1 / sqrt(head_size))");
    }
    scale = *number;
    return {};
  }

  template <class Word>
  Status read_word(const toml::node& node, std::string_view what, std::initializer_list<Word> words,
                   std::optional<Word>& word) const {
    const std::string text = node.is_string() ? node.as_string()->get() : "";
    std::string expected;
    for (const Word known : words) {
      if (text == attention::name(known)) {
        word = known;
        return {};
      }
      expected += fmt::format("{}\"{}\"", expected.empty() ? "" : ", ", attention::name(known));
    }
    return wrong(node, fmt::format("{}: expected one of {}", what, expected));
  }

  MappingFile mapping_;
};

}  // namespace

Result<MappingFile> parse_mapping(std::string_view text, const std::filesystem::path& file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const toml::table root, parse_toml(text, file));
  return MappingReader(file).read(root);
}

Result<MappingFile> read_mapping_file(const std::filesystem::path& file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, read_toml_text(file, "a TOML file with the names of tensors"));
  return parse_mapping(text, file);
}

}  // namespace trainwarden::views::attention
