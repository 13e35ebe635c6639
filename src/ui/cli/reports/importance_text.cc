#include "ui/cli/reports/importance_text.h"

#include <fmt/format.h>

#include "ui/cli/terminal/picture.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

constexpr int kShareBarWidth = 30;
constexpr double kGoodR2 = 0.7;

std::string percent_cell(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

Table shares_table() {
  return Table({{"PARAMETER"}, {"SHARE", Align::kRight}, {"FROM", Align::kRight}, {"TO", Align::kRight}, {""}});
}

void add_share(Table& table, const std::string& name, const tune::ImportanceShare& share, const Terminal& terminal) {
  table.add_row({name, percent_cell(share.importance), percent_cell(share.low), percent_cell(share.high),
                 render_bar(share.importance, kShareBarWidth, terminal)});
}

std::string single_table(const tune::Space& space, const std::vector<tune::ParameterImportance>& list,
                         const Terminal& terminal) {
  Table table = shares_table();
  for (const tune::ParameterImportance& each : list) {
    add_share(table, space[each.parameter].name, each.share, terminal);
  }
  return table.to_string();
}

// Pairs of which even the upper end is next to nothing are left out.
std::string pairs_table(const tune::Space& space, const std::vector<tune::PairImportance>& pairs,
                        const Terminal& terminal) {
  constexpr double kWorthARow = 0.005;
  Table table = shares_table();
  for (const tune::PairImportance& pair : pairs) {
    if (pair.share.importance < kWorthARow) continue;
    add_share(table, fmt::format("{} with {}", space[pair.first].name, space[pair.second].name), pair.share, terminal);
  }
  return table.empty() ? "" : "\n" + table.to_string();
}

std::string trust_text(const tune::ForestImportance& forest) {
  const std::string r2 = fmt::format("R2 {:.2f} on trials that its forest has not seen: ", forest.r2);
  if (forest.r2 < kGoodR2) return r2 + "it explains them in part, so take the shares as a hint.\n";
  return r2 + "it explains them well; the shares hold within their intervals.\n";
}

std::string forest_text(const tune::Space& space, const tune::ForestImportance& forest, const Terminal& terminal) {
  return "\nWhat makes trials differ over the whole space (fANOVA):\n" + trust_text(forest) +
         single_table(space, forest.single, terminal) + pairs_table(space, forest.pairs, terminal);
}

}  // namespace

std::string importance_text(const tune::Study& study, std::size_t metric, const tune::StudyImportance& found,
                            const Terminal& terminal) {
  const tune::History& history = study.state().history();
  std::string text = fmt::format("{}: what mattered for {}, by {} complete trials", study.spec().name,
                                 history.metrics[metric].name, found.trials);
  text += found.left_out > 0 ? fmt::format("; {} ended without a value and are left out\n", found.left_out) : "\n";
  if (!found.note.empty()) text += found.note + "\n";
  if (!found.ped_anova.empty()) {
    text +=
        "\nWhat makes a trial one of the best (PED-ANOVA):\n" + single_table(history.space, found.ped_anova, terminal);
  }
  if (found.forest && found.forest->is_trusted) text += forest_text(history.space, *found.forest, terminal);
  if (!found.ped_anova.empty()) text += "\nFrom and to: nine in ten of trials drawn anew have the share there.\n";
  return text;
}

}  // namespace trainwarden::cli
