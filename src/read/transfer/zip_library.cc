#include "read/transfer/zip_library.h"

#include <array>

#include <fmt/format.h>

#include "core/base/dynamic_library.h"

namespace trainwarden::transfer {
namespace {

constexpr std::array kNames = {"libzip.so.5", "libzip.so.4"};

Result<ZipLibrary> load() {
  auto library = DynamicLibrary::load(kNames);
  if (!library.ok()) {
    return Status(Code::kUnavailable, fmt::format("archives need libzip, which is not installed ({}); install the "
                                                  "package libzip4",
                                                  library.status().message()));
  }
  ZipLibrary zip{};
  library->find("zip_open", zip.open);
  library->find("zip_close", zip.close);
  library->find("zip_discard", zip.discard);
  library->find("zip_source_buffer", zip.source_buffer);
  library->find("zip_source_free", zip.source_free);
  library->find("zip_file_add", zip.file_add);
  library->find("zip_set_file_compression", zip.set_file_compression);
  library->find("zip_file_set_mtime", zip.file_set_mtime);
  library->find("zip_set_archive_comment", zip.set_archive_comment);
  library->find("zip_get_error", zip.get_error);
  library->find("zip_error_init_with_code", zip.error_init_with_code);
  library->find("zip_error_fini", zip.error_fini);
  library->find("zip_error_strerror", zip.error_strerror);
  library->find("zip_error_system_type", zip.error_system_type);
  library->find("zip_error_code_system", zip.error_code_system);
  if (library->missing().empty()) return zip;
  return Status(
      Code::kUnavailable,
      fmt::format("the libzip that is installed has no {}; version 1.7 or later is needed", library->missing()));
}

}  // namespace

Result<const ZipLibrary*> zip_library() {
  static const Result<ZipLibrary> zip = load();
  if (!zip.ok()) return zip.status();
  return &*zip;
}

}  // namespace trainwarden::transfer
