// What led to something, and what came of it, over any number of steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "work/catalogue/database.h"

namespace trainwarden::catalogue {

inline constexpr int kMaxLineageDepth = 10;  // as SageMaker's QueryLineage
inline constexpr std::size_t kMaxLineageVertices = 5'000;
inline constexpr std::size_t kMaxLineageEdges = 20'000;

enum class LineageDirection : std::uint8_t { kAscendants, kDescendants, kBoth };

struct LineageVertex {
  std::string node;  // "component:NAME", "artifact:sha256:...", "trial:NAME"
  std::string kind;  // "trial-component", "artifact", "trial"
  std::string name;  // of an artifact an address that it lies at
  std::string type;  // of an artifact "DataSet", "Model", ...; of a component how it stands
  int distance = 0;  // from the start, in steps: below 0 what led to it, above 0 what came of it
};

struct LineageEdge {
  std::string source;
  std::string destination;
  std::string type;  // "ContributedTo", ...
};

struct Lineage {
  std::vector<LineageVertex> vertices;  // the start comes first, then by distance
  std::vector<LineageEdge> edges;       // each once; both ends are vertices
  bool cut = false;                     // there are more than kMaxLineageVertices or kMaxLineageEdges
};

// Each thing is visited once, so that circles end. Trials are not gone through: they hold together what has nothing
// else in common. kNotFound when nothing is known of the start.
Result<Lineage> query_lineage(Database& database, std::int64_t place, const std::string& start,
                              LineageDirection direction, int depth);

// The things whose node begins with this text: "artifact:sha256:01234567". Three at most.
Result<std::vector<std::string>> nodes_like(Database& database, std::int64_t place, const std::string& beginning);

}  // namespace trainwarden::catalogue
