#include "work/workspace/node_variables.h"

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "data/format/json.h"
#include "store/storage/location.h"

namespace trainwarden::workspace {
namespace {

constexpr std::uint64_t kMaxVariablesBytes = std::uint64_t{4} << 20;
constexpr const char* kRoot = "ml";  // as in layout.h

std::string node_folder(std::int64_t node) {
  return fmt::format("nodes/{}", node);
}

std::string variables_file(std::int64_t node) {
  return node_folder(node) + "/variables.json";
}

}  // namespace

JobLayout layout_of_node(const JobLayout& first, std::int64_t node) {
  JobLayout layout = first;
  if (node == 0) return layout;
  layout.input = first.root / node_folder(node) / "input";
  layout.input_config = layout.input / "config";
  layout.input_data = layout.input / "data";
  return layout;
}

Status write_node_variables(const JobLayout& first, std::int64_t node,
                            const std::map<std::string, std::string>& variables) {
  const storage::Location root(first.root);
  TRAINWARDEN_RETURN_IF_ERROR(root.storage().create_folder(node_folder(node)));
  return root.storage().replace(variables_file(node),
                                as_bytes(format::dump_json(format::OrderedJson(variables)) + "\n"));
}

Result<std::map<std::string, std::string>> read_node_variables(const jobs::JobRecord& job, std::int64_t node) {
  std::map<std::string, std::string> variables;
  if (node == 0) return variables;
  const storage::Location root = job.place().beneath(kRoot);
  const std::string file = variables_file(node);
  const Result<std::string> text = root.storage().read(file, kMaxVariablesBytes);
  if (text.status().code() == Code::kNotFound) return variables;
  if (!text.ok()) return text.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json,
                               format::parse_json_object(*text, root.storage().describe(file)));
  for (const auto& [name, value] : json.items()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(variables[name], format::string_field(json, name.c_str()));
  }
  return variables;
}

}  // namespace trainwarden::workspace
