#include "work/experiments/lineage.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "data/format/json.h"
#include "work/experiments/content_hash.h"

namespace trainwarden::experiments {
namespace {

constexpr std::uint64_t kMaxAssociationBytes = 64 << 10;

bool is_node(std::string_view node) {
  for (const std::string_view kind : {kComponentNode, kTrialNode}) {
    if (node.starts_with(kind)) return is_entity_name(node.substr(kind.size()));
  }
  return node.starts_with(kArtifactNode) && node.size() > kArtifactNode.size() &&
         node.size() <= kArtifactNode.size() + kMaxUri && is_utf8(node);
}

std::string association_path(const std::string& name) {
  return fmt::format("{}/{}.json", kAssociationsFolder, name);
}

}  // namespace

std::string node_of(const ArtifactUse& use) {
  return std::string(kArtifactNode) + (use.hash.empty() ? use.uri : use.hash);
}

Status check_association(const Association& association) {
  for (const std::string& node : {association.source, association.destination}) {
    if (is_node(node)) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("\"{}\" is no thing of a lineage; expected component:NAME, trial:NAME or artifact:HASH",
                              printable(node)));
  }
  if (std::find(kAssociationTypes.begin(), kAssociationTypes.end(), association.type) == kAssociationTypes.end()) {
    return Status(Code::kInvalidArgument, fmt::format("association \"{}\"; expected one of {}",
                                                      printable(association.type), fmt::join(kAssociationTypes, ", ")));
  }
  return Status();
}

Status add_association(const ExperimentStore& store, const Association& association) {
  TRAINWARDEN_RETURN_IF_ERROR(check_association(association));
  const std::string ends = association.source + '\n' + association.destination;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string name, sha256_of(ends));
  storage::Storage& storage = store.folder().storage();
  TRAINWARDEN_RETURN_IF_ERROR(storage.create_folder(kAssociationsFolder));
  const std::string text = format::dump_json({{"format", 1},
                                              {"source", association.source},
                                              {"destination", association.destination},
                                              {"type", association.type},
                                              {"time", association.unix_ns}}) +
                           "\n";
  const Status put = storage.put_if_absent(association_path(name), as_bytes(text));
  if (put.code() != Code::kAlreadyExists) return put;
  return Status(Code::kAlreadyExists, fmt::format("{} and {} are associated already", printable(association.source),
                                                  printable(association.destination)));
}

Result<Association> read_association(const ExperimentStore& store, const std::string& name) {
  const std::string path = association_path(name);
  const storage::Storage& storage = store.folder().storage();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, storage.read(path, kMaxAssociationBytes));
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(text, storage.describe(path)));
  Association association;
  TRAINWARDEN_ASSIGN_OR_RETURN(association.source, format::string_field(json, "source"));
  TRAINWARDEN_ASSIGN_OR_RETURN(association.destination, format::string_field(json, "destination"));
  TRAINWARDEN_ASSIGN_OR_RETURN(association.type, format::string_field(json, "type"));
  TRAINWARDEN_ASSIGN_OR_RETURN(association.unix_ns, format::int_field(json, "time", 0));
  const Status status = check_association(association);
  if (!status.ok()) return Status(Code::kDataLoss, fmt::format("{}: {}", storage.describe(path), status.message()));
  return association;
}

}  // namespace trainwarden::experiments
