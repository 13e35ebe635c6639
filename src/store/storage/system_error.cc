#include "store/storage/system_error.h"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace trainwarden::storage {
namespace {

Code code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR: return Code::kNotFound;
    case EEXIST: return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS: return Code::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return Code::kResourceExhausted;
    case EAGAIN:
    case EBUSY:
    case EIO:
    case ESTALE:
    case ETIMEDOUT: return Code::kUnavailable;
    case EINVAL:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG: return Code::kInvalidArgument;
    default: return Code::kInternal;
  }
}

std::string_view advice(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT: return "; free some space or choose another folder";
    case EFBIG: return "; raise the file size limit (ulimit -f)";
    case EMFILE: return "; raise the limit of open files (ulimit -n)";
    case EACCES:
    case EPERM:
    case EROFS: return "; choose a folder that this user may write";
    default: return "";
  }
}

}  // namespace

Status system_error(int error_number, std::string_view action, const std::string& path) {
  return Status(code_of(error_number),
                fmt::format("cannot {} {}: {}{}", action, path, std::generic_category().message(error_number),
                            advice(error_number)));
}

}  // namespace trainwarden::storage
