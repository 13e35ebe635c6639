#include "ui/views/attention/token_labels.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::views::attention {
namespace {

// Where the items of a flat list of tokens lie.
struct Items {
  std::string tensor;
  bool are_offsets = false;
  std::vector<double> numbers;
};

std::optional<Items> items_beside(Trial& trial, const std::string& tokens, std::int64_t step) {
  for (const std::string_view ending : {"offsets", "lengths"}) {
    for (const char separator : {'_', '.', '/'}) {
      const std::string name = fmt::format("{}{}{}", tokens, separator, ending);
      if (!trial.has_tensor(name)) continue;
      const auto value = trial.value(name, step);
      if (value.ok() && value->dtype != DType::kString) return Items{name, ending == "offsets", value->to_doubles()};
    }
  }
  return std::nullopt;
}

TokenLabels none(std::string note) {
  return {{}, std::move(note)};
}

TokenLabels cut(const std::vector<std::string>& strings, std::int64_t first, std::int64_t length) {
  const auto begin = strings.begin() + first;
  return {{begin, begin + length}, {}};
}

TokenLabels cut_item(const std::vector<std::string>& strings, const Items& items, std::int64_t item, std::int64_t batch,
                     std::int64_t length) {
  const auto at = static_cast<std::size_t>(item);
  const auto count = static_cast<std::int64_t>(items.numbers.size());
  if (count != batch && !(items.are_offsets && count == batch + 1)) {
    return none(fmt::format("\"{}\" has {} numbers for a batch of {}", printable(items.tensor), count, batch));
  }
  const auto all = static_cast<double>(strings.size());
  double begin = 0;
  double end = 0;
  if (items.are_offsets) {
    begin = items.numbers[at];
    end = at + 1 < items.numbers.size() ? items.numbers[at + 1] : all;
  } else {
    for (std::size_t i = 0; i < at; ++i) begin += items.numbers[i];
    end = begin + items.numbers[at];
  }
  if (!(begin >= 0 && begin <= end && end <= all)) {
    return none(fmt::format("\"{}\" puts item {} at tokens {} to {}, but there are {}", printable(items.tensor), item,
                            begin, end, all));
  }
  const auto found = static_cast<std::int64_t>(end) - static_cast<std::int64_t>(begin);
  if (found > length) {
    return none(fmt::format("item {} has {} tokens by \"{}\", the attention has {}", item, found,
                            printable(items.tensor), length));
  }
  TokenLabels labels = cut(strings, static_cast<std::int64_t>(begin), found);
  if (found < length) {
    labels.texts.resize(static_cast<std::size_t>(length));
    labels.note =
        fmt::format("item {} has {} tokens; the last {} of {} places are padding", item, found, length - found, length);
  }
  return labels;
}

TokenLabels cut_flat(Trial& trial, const std::string& tokens, const TensorValue& value, std::int64_t step,
                     std::int64_t item, std::int64_t items, std::int64_t length) {
  const auto count = static_cast<std::int64_t>(value.strings.size());
  if (const auto beside = items_beside(trial, tokens, step))
    return cut_item(value.strings, *beside, item, items, length);
  if (count == items * length) return cut(value.strings, item * length, length);
  return none(
      fmt::format("\"{}\" has {} tokens in one row for a batch of {} with {} each, and nothing says where an item "
                  "begins: save them as [B, T], or with \"{}_offsets\"",
                  printable(tokens), count, items, length, printable(tokens)));
}

template <std::size_t n>
bool is_one_of_labels(std::string_view text, const std::array<std::string_view, n>& texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

TokenLabels read_labels(Trial& trial, const std::string& tokens, std::int64_t step, std::int64_t item,
                        std::int64_t items, std::int64_t length) {
  if (tokens.empty()) return none("no tensor of this run holds the tokens' texts");
  const auto value = trial.value(tokens, step);
  if (!value.ok()) return none(fmt::format("no tokens of this step: {}", value.status().message()));
  if (value->dtype != DType::kString) {
    return none(fmt::format("\"{}\" holds {}, no strings", printable(tokens), name(value->dtype)));
  }
  const Shape& shape = value->shape;
  if (shape.rank() == 1) return cut_flat(trial, tokens, *value, step, item, items, length);
  if (shape.rank() == 2 && shape[0] == items && shape[1] == length) return cut(value->strings, item * length, length);
  return none(fmt::format("\"{}\" has shape {} at this step, the attention has {} items of {} tokens",
                          printable(tokens), shape.to_string(), items, length));
}

bool is_separator(std::string_view token) {
  static constexpr std::array<std::string_view, 8> kSeparators = {
      "[CLS]", "[SEP]", "<s>", "</s>", "<|endoftext|>", "<|begin_of_text|>", "<bos>", "<eos>"};
  return is_one_of_labels(token, kSeparators);
}

bool is_padding(std::string_view token) {
  static constexpr std::array<std::string_view, 4> kPaddings = {"", "[PAD]", "<pad>", "<|pad|>"};
  return is_one_of_labels(token, kPaddings);
}

}  // namespace trainwarden::views::attention
