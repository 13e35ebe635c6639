// Putting a whole file in its place.
#pragma once

#include <string>

#include "core/base/bytes.h"
#include "store/storage/beneath.h"
#include "store/storage/naming.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

// As Storage::put_if_absent(). The file is written under a random name that ends in ".tmp", and then given its own.
// Where the file system cannot do that (some network file systems) it is created under its own name and then written:
// still only one can, but a reader may see it in parts, and a process that is killed in between leaves a part.
Status put_file_if_absent(const Beneath& beneath, const std::string& path, ByteSpan content,
                          const NamingCalls& calls = system_naming_calls());

// As Storage::replace(). Nothing waits for the medium.
Status replace_file(const Beneath& beneath, const std::string& path, ByteSpan content);

}  // namespace trainwarden::storage
