#include "store/storage/local_place.h"

#include <system_error>

#include "store/storage/system_error.h"

namespace trainwarden::storage {

namespace fs = std::filesystem;

Result<LocalPlace> find_local_place(const fs::path& path) {
  std::error_code error;
  fs::path whole = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) return system_error(error.value(), "look at", path.string());
  if (!whole.has_filename()) whole = whole.parent_path();
  const fs::file_status status = fs::status(whole, error);
  LocalPlace place{.kind = LocalPlace::Kind::kOther, .path = whole};
  if (status.type() == fs::file_type::not_found) {
    place.kind = LocalPlace::Kind::kNothing;
  } else if (error) {
    return system_error(error.value(), "look at", path.string());
  } else if (fs::is_regular_file(status)) {
    place.kind = LocalPlace::Kind::kFile;
  } else if (fs::is_directory(status)) {
    place.kind = LocalPlace::Kind::kFolder;
  }
  return place;
}

std::optional<std::uint64_t> free_bytes_at(const fs::path& path) {
  std::error_code error;
  for (fs::path at = path; !at.empty(); at = at.parent_path()) {
    const fs::space_info space = fs::space(at, error);
    if (!error) return space.available;
    if (at == at.root_path()) break;
  }
  return std::nullopt;
}

}  // namespace trainwarden::storage
