#include "read/upkeep/file_copy.h"

#include <vector>

#include <fmt/format.h>

#include "core/base/bytes.h"

namespace trainwarden::upkeep {
namespace {

constexpr std::size_t kBlockBytes = 1 << 20;
constexpr int kDeepestCopiedFolder = 32;
constexpr std::uint64_t kMaxCopiedFiles = 1'000'000;

Status copy_folder(const storage::Storage& from, const std::string& folder, storage::Storage& to, int depth,
                   const std::function<void(const std::string&)>& progress, std::uint64_t& files) {
  if (depth > kDeepestCopiedFolder || files > kMaxCopiedFiles) {
    return Status(Code::kResourceExhausted, fmt::format("{} has more files or folders than a run has", folder));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<storage::Entry> entries, from.entries(folder));
  TRAINWARDEN_RETURN_IF_ERROR(to.create_folder(folder));
  for (const storage::Entry& entry : entries) {
    const std::string path = folder + "/" + entry.name;
    if (entry.info.kind == storage::FileInfo::Kind::kFolder) {
      TRAINWARDEN_RETURN_IF_ERROR(copy_folder(from, path, to, depth + 1, progress, files));
    } else if (entry.info.kind == storage::FileInfo::Kind::kFile && !entry.name.ends_with(".tmp")) {
      if (progress) progress(path);
      TRAINWARDEN_RETURN_IF_ERROR(copy_file(from, path, to));
      ++files;
    }
  }
  return {};
}

}  // namespace

Status copy_file(const storage::Storage& from, const std::string& path, storage::Storage& to) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto source, from.open(path));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto target, to.create(path));
  std::vector<std::byte> block(kBlockBytes);
  for (std::uint64_t offset = 0;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t bytes, source->read_at(offset, block));
    if (bytes == 0) break;
    const ByteSpan part = ByteSpan(block).first(bytes);
    TRAINWARDEN_RETURN_IF_ERROR(target->append({&part, 1}));
    offset += bytes;
  }
  TRAINWARDEN_RETURN_IF_ERROR(target->sync());
  return target->close();
}

Result<std::uint64_t> copy_files(const storage::Storage& from, const std::string& folder, storage::Storage& to,
                                 const std::function<void(const std::string&)>& progress) {
  std::uint64_t files = 0;
  TRAINWARDEN_RETURN_IF_ERROR(copy_folder(from, folder, to, 0, progress, files));
  return files;
}

}  // namespace trainwarden::upkeep
