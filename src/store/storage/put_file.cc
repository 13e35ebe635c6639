#include "store/storage/put_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "store/storage/local_file.h"
#include "store/storage/path_rules.h"
#include "store/storage/system_error.h"

namespace trainwarden::storage {
namespace {

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

enum class Lasting { kNow, kAtLeisure };  // on the medium when the call returns, or when the system gets to it

// Leaves nothing behind when it fails.
Status write_whole(const Beneath& beneath, const FileDescriptor& folder, const std::string& path, ByteSpan content,
                   Lasting lasting = Lasting::kNow) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto file, create_local_file(beneath, path));
  Status status = file->append({&content, 1});
  if (status.ok() && lasting == Lasting::kNow) status = file->sync();
  if (status.ok()) status = file->close();
  if (!status.ok()) ::unlinkat(folder.get(), name_of(path).c_str(), 0);
  return status;
}

struct Temporary {
  FileDescriptor folder;  // of the file to be
  std::string path;
};

Result<Temporary> choose_temporary(const Beneath& beneath, const std::string& path) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string random, random_name());
  TRAINWARDEN_ASSIGN_OR_RETURN(
      FileDescriptor folder, beneath.open(std::string(parent_path(path)), O_RDONLY | O_DIRECTORY, "create a file in"));
  return Temporary{std::move(folder), fmt::format("{}.{}.tmp", path, random)};
}

}  // namespace

Status put_file_if_absent(const Beneath& beneath, const std::string& path, ByteSpan content, const NamingCalls& calls) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Temporary temporary, choose_temporary(beneath, path));
  const FileDescriptor& folder = temporary.folder;
  TRAINWARDEN_RETURN_IF_ERROR(write_whole(beneath, folder, temporary.path, content));
  const std::string name = name_of(temporary.path);
  Status status = give_name_if_absent(folder, name, name_of(path), beneath.describe(path), calls);
  ::unlinkat(folder.get(), name.c_str(), 0);  // gone already when it was renamed
  if (status.code() == Code::kUnimplemented) status = write_whole(beneath, folder, path, content);
  return status.ok() ? sync_folder(folder, beneath.describe(std::string(parent_path(path)))) : status;
}

Status replace_file(const Beneath& beneath, const std::string& path, ByteSpan content) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Temporary temporary, choose_temporary(beneath, path));
  const int folder = temporary.folder.get();
  TRAINWARDEN_RETURN_IF_ERROR(write_whole(beneath, temporary.folder, temporary.path, content, Lasting::kAtLeisure));
  const std::string name = name_of(temporary.path);
  if (::renameat(folder, name.c_str(), folder, name_of(path).c_str()) == 0) return Status();
  const Status failed = system_error(errno, "replace", beneath.describe(path));
  ::unlinkat(folder, name.c_str(), 0);
  return failed;
}

}  // namespace trainwarden::storage
