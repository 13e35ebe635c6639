#include "ui/views/attention/layer_values.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/views/attention/view_floats.h"

namespace trainwarden::views::attention {
namespace {

Status unfit(const std::string& tensor, std::string_view expected, const TensorView& found) {
  return {Code::kDataLoss, fmt::format("\"{}\": expected {}, found {} {} at this step", printable(tensor), expected,
                                       trainwarden::name(found.dtype), found.shape.to_string())};
}

// Where tokens lie.
int token_dimension(const LayerMap& map) {
  return map.layout == Layout::kBHTD ? 2 : 1;
}

Status check_flat_or_headed(const std::string& tensor, const LayerMap& map, std::int64_t heads,
                            const TensorView& view) {
  const Shape& shape = view.shape;
  const bool flat = map.layout == Layout::kBTD;
  const bool fits =
      flat ? shape.rank() == 3 && shape[2] == heads * map.head_size
           : shape.rank() == 4 && shape[map.layout == Layout::kBHTD ? 1 : 2] == heads && shape[3] == map.head_size;
  if (fits && has_floats(view)) return {};
  return unfit(
      tensor,
      fmt::format("floating-point numbers in layout {}, {} heads of {}", name(map.layout), heads, map.head_size), view);
}

Status take_attention(LayerValues& values) {
  const TensorView& view = values.attention->view;
  const int rank = view.shape.rank();
  const bool fits = rank == 4 ? view.shape[1] == values.map.heads : rank == 3 && values.map.heads == 1;
  if (!fits || !has_floats(view)) {
    return unfit(values.map.attention, fmt::format("weights of {} heads", values.map.heads), view);
  }
  values.items = view.shape[0];
  values.query_length = view.shape[rank - 2];
  values.key_length = view.shape[rank - 1];
  return {};
}

Status take_queries(LayerValues& values) {
  const LayerMap& map = values.map;
  const TensorView& query = values.query->view;
  const TensorView& key = values.key->view;
  if (map.heads == 0) {
    return {Code::kFailedPrecondition,
            fmt::format("nobody knows how many heads \"{}\" of shape {} has; write heads = N into attention.toml",
                        printable(map.query), query.shape.to_string())};
  }
  TRAINWARDEN_RETURN_IF_ERROR(check_flat_or_headed(map.query, map, map.heads, query));
  TRAINWARDEN_RETURN_IF_ERROR(check_flat_or_headed(map.key, map, map.key_value_heads, key));
  const int tokens = token_dimension(map);
  if (query.shape[0] != key.shape[0]) {
    return unfit(map.key, fmt::format("a batch of {} as the queries have", query.shape[0]), key);
  }
  const bool contradicts =
      values.attention != nullptr && (values.items != query.shape[0] || values.query_length != query.shape[tokens] ||
                                      values.key_length != key.shape[tokens]);
  if (contradicts) {
    return unfit(map.query,
                 fmt::format("{} items of {} queries, as the attention has", values.items, values.query_length), query);
  }
  values.items = query.shape[0];
  values.query_length = query.shape[tokens];
  values.key_length = key.shape[tokens];
  return {};
}

}  // namespace

Result<LayerValues> assemble_layer(const LayerMap& map, SharedValue attention, SharedValue query, SharedValue key) {
  LayerValues values{map, std::move(attention), std::move(query), std::move(key)};
  if (values.attention != nullptr) TRAINWARDEN_RETURN_IF_ERROR(take_attention(values));
  if (values.query != nullptr) TRAINWARDEN_RETURN_IF_ERROR(take_queries(values));
  return values;
}

}  // namespace trainwarden::views::attention
