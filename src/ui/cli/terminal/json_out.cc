#include "ui/cli/terminal/json_out.h"

#include <cmath>
#include <cstdio>

#include "core/base/json_marks.h"
#include "trainwarden/reduction.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {

OrderedJson json_of(const Shape& shape) {
  return OrderedJson(std::vector<std::int64_t>(shape.sizes().begin(), shape.sizes().end()));
}

OrderedJson json_of(const Statistics& statistics) {
  OrderedJson json = {{"count", statistics.count},
                      {"nan_count", statistics.nan_count},
                      {"positive_infinity_count", statistics.positive_inf_count},
                      {"negative_infinity_count", statistics.negative_inf_count},
                      {"zero_count", statistics.zero_count},
                      {"min", json_number(statistics.min)},
                      {"max", json_number(statistics.max)},
                      {"mean", json_number(statistics.mean())},
                      {"std", json_number(std::sqrt(statistics.variance()))},
                      {"l1", json_number(statistics.l1())},
                      {"l2", json_number(statistics.l2())},
                      {"abs_min", json_number(statistics.abs_min)},
                      {"abs_max", json_number(statistics.abs_max)},
                      {"abs_mean", json_number(statistics.abs_mean())}};
  if (statistics.approximate) json["approximate"] = true;
  return json;
}

OrderedJson json_of(const RunLoss& loss) {
  return {{"where", loss.where},
          {"cause", loss.cause},
          {"count", loss.count},
          {"bytes", loss.bytes},
          {"by_writer", loss.by_writer}};
}

std::string to_text(const OrderedJson& document) {
  constexpr int kIndent = 2;
  return escape_marks(document.dump(kIndent, ' ', false, OrderedJson::error_handler_t::replace));
}

void print_json(const OrderedJson& document) {
  emit("{}\n", Painted{to_text(document)});
}

void print_json_line(const OrderedJson& document) {
  constexpr int kNoIndent = -1;
  print_json_text(document.dump(kNoIndent, ' ', false, OrderedJson::error_handler_t::replace));
}

void print_json_text(std::string document) {
  const std::string text = escape_marks(std::move(document));
  emit("{}\n", Painted{text});
}

}  // namespace trainwarden::cli
