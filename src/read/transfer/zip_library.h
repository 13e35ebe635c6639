// libzip, loaded when an archive is first written: no training needs it.
#pragma once

#include <zip.h>

#include "trainwarden/status.h"

namespace trainwarden::transfer {

// Source: libzip's manual.
struct ZipLibrary {
  decltype(&::zip_open) open;
  decltype(&::zip_close) close;
  decltype(&::zip_discard) discard;
  decltype(&::zip_source_buffer) source_buffer;
  decltype(&::zip_source_free) source_free;
  decltype(&::zip_file_add) file_add;
  decltype(&::zip_set_file_compression) set_file_compression;
  decltype(&::zip_file_set_mtime) file_set_mtime;
  decltype(&::zip_set_archive_comment) set_archive_comment;
  decltype(&::zip_get_error) get_error;
  decltype(&::zip_error_init_with_code) error_init_with_code;
  decltype(&::zip_error_fini) error_fini;
  decltype(&::zip_error_strerror) error_strerror;
  decltype(&::zip_error_system_type) error_system_type;
  decltype(&::zip_error_code_system) error_code_system;
};

// kUnavailable, with the package to install, where the system has none. From any thread; lives forever.
Result<const ZipLibrary*> zip_library();

}  // namespace trainwarden::transfer
