#include "storage/put_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "storage/local_file.h"
#include "storage/path_rules.h"

namespace trainwarden::storage {
namespace {

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Leaves nothing behind when it fails.
Status write_whole(const Beneath& beneath, const FileDescriptor& folder, const std::string& path, ByteSpan content) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto file, create_local_file(beneath, path));
  Status status = file->append({&content, 1});
  if (status.ok()) status = file->sync();
  if (status.ok()) status = file->close();
  if (!status.ok()) ::unlinkat(folder.get(), name_of(path).c_str(), 0);
  return status;
}

}  // namespace

Status put_file_if_absent(const Beneath& beneath, const std::string& path, ByteSpan content, const NamingCalls& calls) {
  const std::string parent(parent_path(path));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string random, random_name());
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor folder,
                               beneath.open(parent, O_RDONLY | O_DIRECTORY, "create a file in"));
  const std::string temporary = fmt::format("{}.{}.tmp", path, random);
  TRAINWARDEN_RETURN_IF_ERROR(write_whole(beneath, folder, temporary, content));
  Status status = give_name_if_absent(folder, name_of(temporary), name_of(path), beneath.describe(path), calls);
  ::unlinkat(folder.get(), name_of(temporary).c_str(), 0);  // gone already when it was renamed
  if (status.code() == Code::kUnimplemented) status = write_whole(beneath, folder, path, content);
  return status.ok() ? sync_folder(folder, beneath.describe(parent)) : status;
}

}  // namespace trainwarden::storage
