#include "ui/cli/reports/lineage_view.h"

#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/terminal/table.h"
#include "work/catalogue/lineage_table.h"

namespace trainwarden::cli {
namespace {

using catalogue::Lineage;
using catalogue::LineageEdge;
using catalogue::LineageVertex;

std::map<std::string, const LineageVertex*> by_node(const Lineage& lineage) {
  std::map<std::string, const LineageVertex*> vertices;
  for (const LineageVertex& vertex : lineage.vertices) vertices.emplace(vertex.node, &vertex);
  return vertices;
}

// As it is typed in this folder, when it lies beneath it.
std::string place_text(const std::string& name) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string() + "/";
  return !error && name.size() > here.size() && name.starts_with(here) ? name.substr(here.size()) : name;
}

// "DataSet /data/train", "bert-7-aws-training-job (Completed)", "trial cnn"
std::string vertex_text(const LineageVertex& vertex) {
  if (vertex.kind == "artifact") {
    return fmt::format("{}{}{}", vertex.type, vertex.type.empty() ? "" : " ", place_text(vertex.name));
  }
  if (vertex.kind == "trial") return "trial " + vertex.name;
  return vertex.type.empty() ? vertex.name : fmt::format("{} ({})", vertex.name, vertex.type);
}

// One direction of a lineage, line by line.
class LineageTree {
 public:
  LineageTree(const Lineage& lineage, bool upwards) : vertices_(by_node(lineage)), upwards_(upwards) {
    for (const LineageEdge& edge : lineage.edges) {
      neighbours_[upwards ? edge.destination : edge.source].push_back(&edge);
    }
  }

  std::string draw(const std::string& start) {
    shown_.insert(start);
    add_below(start, 1);
    return std::move(text_);
  }

 private:
  void add_below(const std::string& node, std::size_t depth) {
    for (const LineageEdge* const edge : neighbours_[node]) {
      const std::string& next = upwards_ ? edge->source : edge->destination;
      const LineageVertex& vertex = *vertices_.at(next);
      // An edge belongs to this direction when it leads away from the start.
      if (upwards_ ? vertex.distance >= 0 : vertex.distance <= 0) continue;
      const bool is_new = shown_.insert(next).second;
      const std::string more = !is_new && neighbours_.contains(next) ? " (as above)" : "";
      text_ +=
          fmt::format("{}{}  {}{}\n", std::string(2 * depth, ' '), edge->type, printable(vertex_text(vertex)), more);
      if (is_new) add_below(next, depth + 1);
    }
  }

  std::map<std::string, const LineageVertex*> vertices_;
  std::map<std::string, std::vector<const LineageEdge*>> neighbours_;
  std::set<std::string> shown_;
  bool upwards_;
  std::string text_;
};

}  // namespace

std::string lineage_text(const Lineage& lineage) {
  const LineageVertex& start = lineage.vertices.front();
  std::string text = printable(vertex_text(start)) + "\n";
  const std::string inputs = LineageTree(lineage, true).draw(start.node);
  const std::string outputs = LineageTree(lineage, false).draw(start.node);
  if (!inputs.empty()) text += "went in\n" + inputs;
  if (!outputs.empty()) text += "came out\n" + outputs;
  if (inputs.empty() && outputs.empty()) text += "nothing is known of what led to it or came of it\n";
  return text;
}

OrderedJson lineage_json(const Lineage& lineage) {
  OrderedJson vertices = OrderedJson::array();
  for (const LineageVertex& vertex : lineage.vertices) {
    vertices.push_back({{"node", vertex.node},
                        {"lineage_type", vertex.kind},
                        {"name", vertex.name},
                        {"type", vertex.type},
                        {"distance", vertex.distance}});
  }
  OrderedJson edges = OrderedJson::array();
  for (const LineageEdge& edge : lineage.edges) {
    edges.push_back({{"source", edge.source}, {"destination", edge.destination}, {"association_type", edge.type}});
  }
  return {{"start", lineage.vertices.front().node}, {"vertices", vertices}, {"edges", edges}, {"cut", lineage.cut}};
}

std::string lineage_table(const Lineage& lineage) {
  std::vector<Column> titles;
  for (const char* const title : catalogue::kLineageColumns) titles.push_back({title});
  Table table(titles);
  for (const auto& row : catalogue::lineage_rows(lineage)) table.add_row({row.begin(), row.end()});
  return table.to_string();
}

OrderedJson lineage_table_json(const Lineage& lineage) {
  OrderedJson rows = OrderedJson::array();
  for (const auto& row : catalogue::lineage_rows(lineage)) rows.push_back(row);
  return {{"columns", catalogue::kLineageColumns}, {"rows", rows}};
}

}  // namespace trainwarden::cli
