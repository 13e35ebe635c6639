#include "ui/views/attention/neuron_look.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/views/attention/head_look.h"
#include "ui/views/attention/head_rows.h"

namespace trainwarden::views::attention {
namespace {

constexpr std::int64_t kMostProductBytes = 64 << 20;
constexpr float kHiddenScore = -std::numeric_limits<float>::infinity();

// Sums in float64, so that they are what the rows of `product` add up to.
void multiply(NeuronLook& look, const std::vector<float>& keys) {
  const auto size = static_cast<std::size_t>(look.head_size);
  const std::size_t shown = static_cast<std::size_t>(look.keys) * size;
  look.product.reserve(shown);
  for (std::size_t begin = 0; begin < keys.size(); begin += size) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const double product = static_cast<double>(look.query_vector[i]) * static_cast<double>(keys[begin + i]);
      sum += product;
      if (begin < shown) look.product.push_back(static_cast<float>(product));
    }
    look.dot.push_back(static_cast<float>(sum));
  }
}

void scale_and_mask(NeuronLook& look, const LayerMap& map) {
  const KeyRange visible = visible_keys(map, look.query, look.query_length, look.key_length);
  for (std::size_t key = 0; key < look.dot.size(); ++key) {
    const auto index = static_cast<std::int64_t>(key);
    const bool is_visible = index >= visible.begin && index < visible.end;
    look.scaled.push_back(is_visible ? static_cast<float>(static_cast<double>(look.dot[key]) * map.scale)
                                     : kHiddenScore);
  }
  look.softmax = look.scaled;
  softmax(look.softmax);
}

void keep_shown(NeuronLook& look) {
  const auto keys = static_cast<std::size_t>(look.keys);
  for (std::vector<float>* column : {&look.dot, &look.scaled, &look.softmax, &look.captured}) {
    if (column->size() > keys) column->resize(keys);
  }
  keep_first(look.key_labels, look.keys);
}

Status check_size(const NeuronLook& look) {
  const std::int64_t bytes = look.keys * look.head_size * static_cast<std::int64_t>(sizeof(float));
  if (bytes <= kMostProductBytes) return {};
  return {Code::kInvalidArgument,
          fmt::format("{} keys of {} numbers are too many for one answer (at most {}): ask for the first ones",
                      look.keys, look.head_size, format_bytes(static_cast<std::uint64_t>(kMostProductBytes)))};
}

}  // namespace

Result<NeuronLook> look_at_neuron(const RunAttention& attention, const NeuronQuestion& question) {
  NeuronLook look{.layer = question.layer, .head = question.head, .item = question.item, .query = question.query};
  TRAINWARDEN_ASSIGN_OR_RETURN(look.place, attention.place_of(question.step));
  TRAINWARDEN_ASSIGN_OR_RETURN(const LayerValues values,
                               attention.read(question.layer, look.place.step, Need::kQueries));
  const LayerMap& map = values.map;
  TRAINWARDEN_RETURN_IF_ERROR(check_index("batch item", look.item, values.items));
  TRAINWARDEN_RETURN_IF_ERROR(check_index("head", look.head, map.heads));
  TRAINWARDEN_RETURN_IF_ERROR(check_index("query", look.query, values.query_length));
  look.items = values.items;
  look.key_head = values.key_head_of(look.head);
  look.head_size = map.head_size;
  look.scale = map.scale;
  look.query_length = values.query_length;
  look.key_length = values.key_length;
  look.keys = std::min(question.first.value_or(values.key_length), values.key_length);
  TRAINWARDEN_RETURN_IF_ERROR(check_size(look));

  look.query_vector.resize(static_cast<std::size_t>(map.head_size));
  read_vector(*values.query, map, map.heads, look.item, look.head, look.query, look.query_vector);
  std::vector<float> keys = read_head_keys(values, look.item, look.head);
  multiply(look, keys);
  scale_and_mask(look, map);
  keys.resize(static_cast<std::size_t>(look.keys * map.head_size));
  look.key_vectors = std::move(keys);
  if (values.attention != nullptr) {
    look.captured.resize(static_cast<std::size_t>(values.key_length));
    HeadRows(values, look.item, look.head).read(look.query, look.captured);
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(look.query_labels, attention.query_labels(look.place.step, look.item, values));
  TRAINWARDEN_ASSIGN_OR_RETURN(look.key_labels, attention.key_labels(look.place.step, look.item, values));
  keep_shown(look);
  return look;
}

}  // namespace trainwarden::views::attention
