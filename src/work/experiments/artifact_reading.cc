#include "work/experiments/artifact_reading.h"

#include <array>
#include <string_view>

#include "core/base/text.h"

namespace trainwarden::experiments {
namespace {

constexpr std::string_view kFileScheme = "file://";

struct NamedType {
  std::string_view name;
  const char* type;
};
constexpr std::array<NamedType, 7> kTypes = {{{"model", "Model"},
                                              {"checkpoint", "Checkpoint"},
                                              {"checkpoints", "Checkpoint"},
                                              {"code", "Code"},
                                              {"environment", "Environment"},
                                              {"image", "Image"},
                                              {"run", "DebugOutput"}}};

const char* type_of(const std::string& name, bool is_output) {
  for (const NamedType& known : kTypes) {
    if (lower(name) == known.name) return known.type;
  }
  return is_output ? "Output" : "DataSet";
}

}  // namespace

ArtifactUse artifact_of(const std::string& name, const std::string& uri, bool is_output, const ContentHash& content) {
  ArtifactUse use;
  use.uri = uri;
  use.type = type_of(name, is_output);
  use.hash = content.hash;
  use.note = content.note;
  if (!content.hash.empty()) use.bytes = content.bytes;
  return use;
}

ArtifactUse read_artifact(const std::string& name, const std::string& uri, bool is_output, const HashBudget& budget) {
  ArtifactUse use = artifact_of(name, uri, is_output, {});
  const bool is_file_uri = uri.starts_with(kFileScheme);
  if (!is_file_uri && uri.find("://") != std::string::npos) return use;
  std::error_code ignored;
  const std::filesystem::path path =
      std::filesystem::absolute(is_file_uri ? uri.substr(kFileScheme.size()) : uri, ignored).lexically_normal();
  if (!is_file_uri) use.uri = path.string();
  const Result<ContentHash> content = hash_content(path, budget);
  if (!content.ok()) {
    use.note = printable(content.status().message()).substr(0, kMaxMessage);
    return use;
  }
  return artifact_of(name, use.uri, is_output, *content);
}

}  // namespace trainwarden::experiments
