// From what is known of a layer to all there is to know: heads, their size, layout and scale, from shapes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trainwarden/tensor_view.h"
#include "ui/views/attention/attention_map.h"

namespace trainwarden::views::attention {

// A layer as a user writes it, or as names say it. What is not there is to be found out.
struct LayerWish {
  std::string name;
  std::string attention{};
  std::string query{};
  std::string key{};
  std::optional<std::int64_t> heads{};
  std::optional<std::int64_t> key_value_heads{};
  std::optional<std::int64_t> head_size{};
  std::optional<double> scale{};
  std::optional<MaskKind> mask{};
  std::optional<std::int64_t> window{};
  std::optional<Layout> layout{};
};

// The shapes of a layer's tensors, those that it has.
struct LayerShapes {
  std::optional<Shape> attention;
  std::optional<Shape> query;
  std::optional<Shape> key;
};

struct CompletedLayer {
  LayerMap layer;
  std::vector<std::string> assumptions;  // that the shapes leave open, without the layer's name
};

// What a run's labels say: "num_attention_heads", "num_heads", "n_head" or "heads".
std::optional<std::int64_t> labelled_heads(const std::map<std::string, std::string>& labels);

// kInvalidArgument when wish and shapes contradict one another; the message says which sizes. A layer whose number of
// heads nobody knows is completed with 0 heads and an assumption that says what to do.
Result<CompletedLayer> complete_layer(const LayerWish& wish, const LayerShapes& shapes,
                                      std::optional<std::int64_t> labelled_heads);

}  // namespace trainwarden::views::attention
