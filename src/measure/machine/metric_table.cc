#include "measure/machine/metric_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace trainwarden::machine {

std::span<const MetricDescription> metric_table() {
  return metric_rows::kAll;
}

std::string metric_table_markdown() {
  std::string table = "| metric | unit | kind | source | means | from |\n|---|---|---|---|---|---|\n";
  for (const MetricDescription& row : metric_rows::kAll) {
    table += fmt::format("| `{}` | {} | {} | {} | {} | `{}` |\n", row.name, row.unit, name(row.kind), name(row.source),
                         row.means, row.from);
  }
  return table;
}

Metric metric_of(const MetricDescription& row, std::string_view part, const std::string& instance) {
  std::string name(row.name);
  if (const std::size_t star = name.find('*'); star != std::string::npos) name.replace(star, 1, part);
  return {std::move(name), std::string(row.unit), row.kind, row.source, instance};
}

void MetricSet::set(Reading& reading, Known known, double value) {
  const MetricDescription* const row = &known.row();
  const auto found = std::find_if(entries_.begin(), entries_.end(), [row](const Entry& e) { return e.row == row; });
  if (found != entries_.end()) return reading.set(found->id, value);
  const std::uint32_t id = reading.id_of(metric_of(*row, part_, instance_));
  entries_.push_back({row, id});
  reading.set(id, value);
}

MetricSet* NamedSets::find(std::string_view part) {
  if (next_ >= sets_.size() || sets_[next_].part() != part) {
    const auto found = indexes_.find(std::string(part));
    if (found == indexes_.end() && sets_.size() >= limit_) return nullptr;
    next_ = found == indexes_.end() ? sets_.size() : found->second;
  }
  if (next_ == sets_.size()) {
    indexes_.emplace(part, next_);
    sets_.emplace_back(std::string(part), instance_);
  }
  return &sets_[next_++];
}

}  // namespace trainwarden::machine
