#include "store/storage/path_rules.h"

#include <fmt/format.h>

namespace trainwarden::storage {

Status check_path(std::string_view path) {
  if (path.empty()) return Status();
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != part.npos) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("path \"{}\": expected parts separated by single '/', none of them \".\" or \"..\", and "
                      "no '/' at the start or the end",
                      path));
    }
    begin = end + 1;
  }
  return Status();
}

Status check_file_path(std::string_view path) {
  if (path.empty()) return Status(Code::kInvalidArgument, "path \"\": expected a file, and this is the root folder");
  return check_path(path);
}

std::string_view parent_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace trainwarden::storage
