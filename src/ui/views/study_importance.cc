#include "ui/views/study_importance.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/format/json_number.h"

namespace trainwarden::views {
namespace {

using format::OrderedJson;

constexpr std::size_t kMaxNamed = 4;
constexpr double kWorthNaming = 0.05;

void add_share(OrderedJson& json, const tune::ImportanceShare& share) {
  json["importance"] = format::json_number(share.importance);
  json["low"] = format::json_number(share.low);
  json["high"] = format::json_number(share.high);
}

OrderedJson list_json(const tune::Space& space, const std::vector<tune::ParameterImportance>& list) {
  OrderedJson json = OrderedJson::array();
  for (const tune::ParameterImportance& each : list) {
    OrderedJson row = {{"parameter", space[each.parameter].name}};
    add_share(row, each.share);
    json.push_back(std::move(row));
  }
  return json;
}

OrderedJson forest_json(const tune::Space& space, const tune::ForestImportance& forest) {
  OrderedJson pairs = OrderedJson::array();
  for (const tune::PairImportance& pair : forest.pairs) {
    OrderedJson row;
    row["parameters"] = OrderedJson::array({space[pair.first].name, space[pair.second].name});
    add_share(row, pair.share);
    pairs.push_back(std::move(row));
  }
  return {{"r2", format::json_number(forest.r2)},
          {"trusted", forest.is_trusted},
          {"single", list_json(space, forest.single)},
          {"pairs", std::move(pairs)}};
}

}  // namespace

Result<std::size_t> importance_metric(const tune::Study& study, const std::string& metric) {
  const tune::History& history = study.state().history();
  if (metric.empty()) return history.objectives().front();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < history.metrics.size(); ++i) {
    if (history.metrics[i].strategy == tune::Strategy::kStore) continue;
    if (history.metrics[i].name == metric) return i;
    names.push_back(history.metrics[i].name);
  }
  return Status(Code::kInvalidArgument, fmt::format("expected a metric that counts in study {}: {}; found \"{}\"",
                                                    study.spec().name, fmt::join(names, ", "), metric));
}

Result<OrderedJson> importance_json(const tune::Study& study, const std::string& metric) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t index, importance_metric(study, metric));
  const tune::History& history = study.state().history();
  const tune::StudyImportance found = tune::importance_of(history, index);
  return OrderedJson({{"study", study.spec().name},
                      {"metric", history.metrics[index].name},
                      {"trials", found.trials},
                      {"left_out", found.left_out},
                      {"note", found.note},
                      {"ped_anova", list_json(history.space, found.ped_anova)},
                      {"fanova", found.forest ? forest_json(history.space, *found.forest) : OrderedJson()}});
}

std::string what_mattered_text(const tune::Study& study) {
  const tune::History& history = study.state().history();
  const tune::StudyImportance found =
      tune::importance_of(history, history.objectives().front(), tune::ImportanceParts::kPedAnova);
  if (!found.beats_chance) return "";
  std::vector<std::string> texts;
  for (const tune::ParameterImportance& each : found.ped_anova) {
    if (texts.size() == kMaxNamed || each.share.importance < kWorthNaming) break;
    texts.push_back(fmt::format("{} {}", history.space[each.parameter].name, share_text(each.share)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string share_text(const tune::ImportanceShare& share) {
  return fmt::format("{:.0f} % ({:.0f} to {:.0f})", 100 * share.importance, 100 * share.low, 100 * share.high);
}

}  // namespace trainwarden::views
