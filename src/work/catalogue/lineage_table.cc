#include "work/catalogue/lineage_table.h"

#include <cstddef>
#include <map>

namespace trainwarden::catalogue {
namespace {

// Of a longer name the visualizer shows this much of its beginning and of its end.
constexpr std::size_t kLongestName = 48;
constexpr std::size_t kNameBegin = 5;
constexpr std::size_t kNameEnd = 40;

std::string short_name(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  return name.substr(0, kNameBegin) + "..." + name.substr(name.size() - kNameEnd);
}

}  // namespace

std::vector<LineageRow> lineage_rows(const Lineage& lineage) {
  const std::string& start = lineage.vertices.front().node;
  std::map<std::string, const LineageVertex*> vertices;
  for (const LineageVertex& vertex : lineage.vertices) vertices.emplace(vertex.node, &vertex);
  std::vector<LineageRow> rows;
  for (const bool is_input : {true, false}) {
    for (const LineageEdge& edge : lineage.edges) {
      if ((is_input ? edge.destination : edge.source) != start) continue;
      const LineageVertex& other = *vertices.at(is_input ? edge.source : edge.destination);
      const std::string type = other.kind == "trial-component" ? "" : other.type;
      rows.push_back({short_name(other.name), is_input ? "Input" : "Output", type, edge.type, other.kind});
    }
  }
  return rows;
}

}  // namespace trainwarden::catalogue
