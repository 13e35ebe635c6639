#include "ui/views/attention/layer_shapes.h"

#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::views::attention {
namespace {

Status contradiction(std::string message) {
  return {Code::kInvalidArgument, std::move(message)};
}

class LayerCompletion {
 public:
  LayerCompletion(const LayerWish& wish, const LayerShapes& shapes, std::optional<std::int64_t> labelled_heads)
      : wish_(wish), shapes_(shapes), labelled_heads_(labelled_heads) {}

  Result<CompletedLayer> complete() {
    LayerMap& layer = done_.layer;
    layer.name = wish_.name;
    layer.attention = wish_.attention;
    layer.query = wish_.query;
    layer.key = wish_.key;
    layer.mask = wish_.mask.value_or(MaskKind::kNone);
    layer.window = wish_.window.value_or(0);
    if (layer.mask == MaskKind::kWindow && layer.window < 1) {
      return contradiction("mask \"window\" needs window = N, how many tokens may be looked at");
    }
    TRAINWARDEN_RETURN_IF_ERROR(take_attention());
    if (layer.has_queries()) TRAINWARDEN_RETURN_IF_ERROR(take_queries());
    if (layer.heads == 0) layer.heads = wish_.heads.value_or(0);
    return std::move(done_);
  }

 private:
  Status take_attention() {
    if (!shapes_.attention) return {};
    const Shape& shape = *shapes_.attention;
    if (shape.rank() != 4 && shape.rank() != 3) {
      return contradiction(
          fmt::format("attention: expected [B, H, Tq, Tk] or [B, Tq, Tk], found {}", shape.to_string()));
    }
    done_.layer.heads = shape.rank() == 4 ? shape[1] : 1;
    if (shape.rank() == 3) assume("its attention of 3 dimensions is taken for one head, [B, Tq, Tk]");
    if (wish_.heads && *wish_.heads != done_.layer.heads) {
      return contradiction(fmt::format("heads is {}, but attention of shape {} has {}", *wish_.heads, shape.to_string(),
                                       done_.layer.heads));
    }
    return {};
  }

  Status take_queries() {
    const Shape& query = *shapes_.query;
    const Shape& key = *shapes_.key;
    if (query.rank() != key.rank() || (query.rank() != 3 && query.rank() != 4)) {
      return contradiction(
          fmt::format("queries and keys: expected both with 3 dimensions or both with 4, found {} and {}",
                      query.to_string(), key.to_string()));
    }
    if (query[0] != key[0]) {
      return contradiction(
          fmt::format("queries {} and keys {} have different batches", query.to_string(), key.to_string()));
    }
    TRAINWARDEN_RETURN_IF_ERROR(query.rank() == 3 ? take_flat(query, key) : take_with_heads(query, key));
    return finish();
  }

  // [B, T, H·d]: the heads cannot be seen.
  Status take_flat(const Shape& query, const Shape& key) {
    LayerMap& layer = done_.layer;
    layer.layout = Layout::kBTD;
    if (wish_.layout && *wish_.layout != Layout::kBTD) {
      return contradiction(
          fmt::format("layout {} needs 4 dimensions, found {}", name(*wish_.layout), query.to_string()));
    }
    const std::int64_t width = query[2];
    if (layer.heads == 0) layer.heads = wish_.heads.value_or(0);
    if (layer.heads == 0 && wish_.head_size && *wish_.head_size > 0 && width % *wish_.head_size == 0) {
      layer.heads = width / *wish_.head_size;
    }
    if (layer.heads == 0) layer.heads = labelled_heads_.value_or(0);
    if (layer.heads == 0) {
      assume(fmt::format(
          "how many heads share the {} numbers of a query does not follow from its shape {}: write heads = N "
          "into attention.toml, or label the run num_attention_heads=N",
          width, query.to_string()));
      return {};
    }
    if (width % layer.heads != 0) {
      return contradiction(fmt::format("{} heads do not divide the {} numbers of a query", layer.heads, width));
    }
    layer.head_size = width / layer.heads;
    if (key[2] % layer.head_size != 0) {
      return contradiction(
          fmt::format("keys have {} numbers, no multiple of the head size {}", key[2], layer.head_size));
    }
    layer.key_value_heads = key[2] / layer.head_size;
    return {};
  }

  // [B, H, T, d] or [B, T, H, d].
  Status take_with_heads(const Shape& query, const Shape& key) {
    LayerMap& layer = done_.layer;
    if (query[3] != key[3]) {
      return contradiction(
          fmt::format("queries {} and keys {} have heads of different sizes", query.to_string(), key.to_string()));
    }
    if (wish_.layout == Layout::kBTD) {
      return contradiction(fmt::format("layout BTD needs 3 dimensions, found {}", query.to_string()));
    }
    layer.layout = wish_.layout ? *wish_.layout : layout_of(query, key);
    const int dimension = layer.layout == Layout::kBHTD ? 1 : 2;
    if (layer.heads != 0 && layer.heads != query[dimension]) {
      return contradiction(fmt::format("attention has {} heads, queries {} in layout {} have {}", layer.heads,
                                       query.to_string(), name(layer.layout), query[dimension]));
    }
    layer.heads = query[dimension];
    layer.key_value_heads = key[dimension];
    layer.head_size = query[3];
    return {};
  }

  // Which of the two middle dimensions counts heads.
  Layout layout_of(const Shape& query, const Shape& key) {
    const std::optional<std::int64_t> heads = done_.layer.heads > 0 ? done_.layer.heads
                                              : wish_.heads         ? wish_.heads
                                                                    : labelled_heads_;
    if (heads && query[1] == *heads && query[2] != *heads) return Layout::kBHTD;
    if (heads && query[2] == *heads && query[1] != *heads) return Layout::kBTHD;
    // Grouped-query attention: only heads may be fewer on the keys' side while the tokens are the same.
    if (query[2] == key[2] && query[1] != key[1] && query[1] % key[1] == 0) return Layout::kBHTD;
    if (query[1] == key[1] && query[2] != key[2] && query[2] % key[2] == 0) return Layout::kBTHD;
    assume(fmt::format(
        "queries {} are read as [B, H, T, d]; if that is wrong, write layout = \"BTHD\" into attention.toml",
        query.to_string()));
    return Layout::kBHTD;
  }

  Status finish() {
    LayerMap& layer = done_.layer;
    if (layer.heads == 0) return {};
    if (wish_.heads && *wish_.heads != layer.heads) {
      return contradiction(fmt::format("heads is {}, the queries have {}", *wish_.heads, layer.heads));
    }
    if (wish_.head_size && *wish_.head_size != layer.head_size) {
      return contradiction(fmt::format("head_size is {}, the queries have {}", *wish_.head_size, layer.head_size));
    }
    if (wish_.key_value_heads && *wish_.key_value_heads != layer.key_value_heads) {
      return contradiction(
          fmt::format("key_value_heads is {}, the keys have {}", *wish_.key_value_heads, layer.key_value_heads));
    }
    if (layer.key_value_heads < 1 || layer.heads % layer.key_value_heads != 0) {
      return contradiction(
          fmt::format("{} heads of keys do not divide {} heads of queries", layer.key_value_heads, layer.heads));
    }
    if (layer.head_size < 1) return contradiction("heads have no numbers");
    layer.scale = wish_.scale ? *wish_.scale : 1.0 / std::sqrt(static_cast<double>(layer.head_size));
    return {};
  }

  void assume(std::string what) { done_.assumptions.push_back(std::move(what)); }

  const LayerWish& wish_;
  const LayerShapes& shapes_;
  std::optional<std::int64_t> labelled_heads_;
  CompletedLayer done_;
};

}  // namespace

std::optional<std::int64_t> labelled_heads(const std::map<std::string, std::string>& labels) {
  for (const char* key : {"num_attention_heads", "num_heads", "n_head", "heads"}) {
    const auto found = labels.find(key);
    if (found == labels.end()) continue;
    const auto number = parse_int(found->second);
    if (number && *number > 0) return number;
  }
  return std::nullopt;
}

Result<CompletedLayer> complete_layer(const LayerWish& wish, const LayerShapes& shapes,
                                      std::optional<std::int64_t> labelled_heads) {
  return LayerCompletion(wish, shapes, labelled_heads).complete();
}

}  // namespace trainwarden::views::attention
