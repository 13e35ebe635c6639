#include "work/catalogue/lineage_query.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "work/experiments/lineage.h"

namespace trainwarden::catalogue {
namespace {

// All edges of a folder, as rows (source, destination, type).
constexpr const char* kEdges =
    "SELECT a.node, 'component:' || c.name, 'ContributedTo' FROM artifact a JOIN component c ON c.id = a.component "
    "WHERE a.is_output = 0 AND c.place = ?1 AND {0} "
    "UNION SELECT 'component:' || c.name, a.node, 'Produced' FROM artifact a JOIN component c ON c.id = a.component "
    "WHERE a.is_output = 1 AND c.place = ?1 AND {1} "
    "UNION SELECT 'component:' || c.name, 'trial:' || ct.trial, 'AssociatedWith' FROM component_trial ct "
    "JOIN component c ON c.id = ct.component WHERE c.place = ?1 AND {2} "
    "UNION SELECT source, destination, type FROM association WHERE place = ?1 AND {3} LIMIT ?4";

// ?2 is the node, ?3 the name of the component or trial that it is, else NULL.
std::string edges_to() {
  return fmt::format(fmt::runtime(kEdges), "c.name = ?3 AND ?2 LIKE 'component:%'", "a.node = ?2",
                     "ct.trial = ?3 AND ?2 LIKE 'trial:%'", "destination = ?2");
}
std::string edges_from() {
  return fmt::format(fmt::runtime(kEdges), "a.node = ?2", "c.name = ?3 AND ?2 LIKE 'component:%'",
                     "c.name = ?3 AND ?2 LIKE 'component:%'", "source = ?2");
}

std::string name_in(const std::string& node) {
  for (const std::string_view kind : {experiments::kComponentNode, experiments::kTrialNode}) {
    if (node.starts_with(kind)) return node.substr(kind.size());
  }
  return "";
}

class LineageWalk {
 public:
  LineageWalk(Database& database, std::int64_t place, int depth) : database_(database), place_(place), depth_(depth) {}

  // Goes from the start in one direction.
  Status walk(const std::string& start, bool upwards) {
    distances_[start] = 0;
    TRAINWARDEN_ASSIGN_OR_RETURN(Statement query, database_.prepare(upwards ? edges_to() : edges_from()));
    std::set<std::string> seen = {start};
    std::deque<std::pair<std::string, int>> open = {{start, 0}};
    while (!open.empty()) {
      const auto [node, distance] = std::move(open.front());
      open.pop_front();
      const bool is_end = distance == depth_ || (distance > 0 && node.starts_with(experiments::kTrialNode));
      if (is_end) continue;
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<LineageEdge> edges, edges_of(query, node));
      for (const LineageEdge& edge : edges) {
        const std::string& next = upwards ? edge.source : edge.destination;
        if (!reach(next, upwards ? -(distance + 1) : distance + 1)) continue;
        if (edges_.size() < kMaxLineageEdges) {
          edges_.emplace(edge.source, edge.destination, edge.type);
        } else {
          cut_ = true;
        }
        if (seen.insert(next).second) open.emplace_back(next, distance + 1);
      }
    }
    return Status();
  }

  Result<Lineage> finish() {
    Lineage lineage;
    lineage.cut = cut_;
    for (const auto& [node, distance] : distances_) {
      TRAINWARDEN_ASSIGN_OR_RETURN(LineageVertex vertex, vertex_of(node));
      vertex.distance = distance;
      lineage.vertices.push_back(std::move(vertex));
    }
    std::stable_sort(lineage.vertices.begin(), lineage.vertices.end(), [](const auto& a, const auto& b) {
      return std::tuple(std::abs(a.distance), a.distance, a.name) <
             std::tuple(std::abs(b.distance), b.distance, b.name);
    });
    for (const auto& [source, destination, type] : edges_) lineage.edges.push_back({source, destination, type});
    return lineage;
  }

 private:
  // False when there is no room for one more.
  bool reach(const std::string& node, int distance) {
    if (distances_.contains(node)) return true;
    if (distances_.size() >= kMaxLineageVertices) {
      cut_ = true;
      return false;
    }
    distances_.emplace(node, distance);
    return true;
  }

  Result<std::vector<LineageEdge>> edges_of(Statement& query, const std::string& node) {
    query.bind(1, place_).bind(2, node).bind(3, name_in(node)).bind(4, std::int64_t{kMaxLineageVertices + 1});
    std::vector<LineageEdge> edges;
    for (;;) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const bool more, query.step());
      if (!more) return edges;
      edges.push_back({query.text(0), query.text(1), query.text(2)});
    }
  }

  Result<LineageVertex> vertex_of(const std::string& node) {
    const std::string name = name_in(node);
    if (node.starts_with(experiments::kTrialNode)) return LineageVertex{node, "trial", name, "Trial", 0};
    if (node.starts_with(experiments::kComponentNode)) {
      TRAINWARDEN_ASSIGN_OR_RETURN(Statement find,
                                   database_.prepare("SELECT status FROM component WHERE place = ? AND name = ?"));
      find.bind(1, place_).bind(2, name);
      TRAINWARDEN_ASSIGN_OR_RETURN(const bool found, find.step());
      return LineageVertex{node, "trial-component", name, found ? find.text(0) : "", 0};
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(
        Statement find, database_.prepare("SELECT a.uri, a.type FROM artifact a JOIN component c ON c.id = a.component "
                                          "WHERE c.place = ? AND a.node = ? ORDER BY a.is_output DESC, a.uri LIMIT 1"));
    find.bind(1, place_).bind(2, node);
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool found, find.step());
    const std::string id = node.substr(experiments::kArtifactNode.size());
    return LineageVertex{node, "artifact", found ? find.text(0) : id, found ? find.text(1) : "", 0};
  }

  Database& database_;
  std::int64_t place_;
  int depth_;
  std::map<std::string, int> distances_;
  std::set<std::tuple<std::string, std::string, std::string>> edges_;
  bool cut_ = false;
};

// Whether anything is known of it.
Result<bool> is_known(Database& database, std::int64_t place, const std::string& node) {
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement find,
      database.prepare("SELECT EXISTS(SELECT 1 FROM component WHERE place = ?1 AND 'component:' || name = ?2) "
                       "OR EXISTS(SELECT 1 FROM trial WHERE place = ?1 AND 'trial:' || name = ?2) "
                       "OR EXISTS(SELECT 1 FROM artifact a JOIN component c ON c.id = a.component "
                       "WHERE a.node = ?2 AND c.place = ?1) "
                       "OR EXISTS(SELECT 1 FROM association WHERE place = ?1 AND (source = ?2 OR destination = ?2))"));
  find.bind(1, place).bind(2, node);
  TRAINWARDEN_RETURN_IF_ERROR(find.step().status());
  return find.integer(0) != 0;
}

}  // namespace

Result<Lineage> query_lineage(Database& database, std::int64_t place, const std::string& start,
                              LineageDirection direction, int depth) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const bool known, is_known(database, place, start));
  if (!known) return Status(Code::kNotFound, fmt::format("nothing is known of {}", printable(start)));
  LineageWalk walk(database, place, depth);
  if (direction != LineageDirection::kDescendants) TRAINWARDEN_RETURN_IF_ERROR(walk.walk(start, true));
  if (direction != LineageDirection::kAscendants) TRAINWARDEN_RETURN_IF_ERROR(walk.walk(start, false));
  return walk.finish();
}

Result<std::vector<std::string>> nodes_like(Database& database, std::int64_t place, const std::string& beginning) {
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement find,
      database.prepare("SELECT DISTINCT a.node FROM artifact a JOIN component c ON c.id = a.component "
                       "WHERE c.place = ?1 AND a.node >= ?2 AND substr(a.node, 1, length(?2)) = ?2 LIMIT 3"));
  find.bind(1, place).bind(2, beginning);
  std::vector<std::string> nodes;
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool more, find.step());
    if (!more) return nodes;
    nodes.push_back(find.text(0));
  }
}

}  // namespace trainwarden::catalogue
