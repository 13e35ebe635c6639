// LocalEnd: a folder or a file of this machine as an end of a copy. Links are neither followed nor replaced by what
// they lead to; a file appears whole or not at all.
#pragma once

#include <filesystem>
#include <memory>

#include "store/copy/copy_end.h"

namespace trainwarden::copy {

enum class EndKind { kFile, kFolder };

// `path` is absolute. It need not be there.
std::shared_ptr<CopyEnd> create_local_end(const std::filesystem::path& path, EndKind kind);

}  // namespace trainwarden::copy
