// Naming: how a file that was written under another name gets its own, which is never taken from another file.
#pragma once

#include <string>

#include "core/base/file_descriptor.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

// Two names in one folder, as the system's calls. A test gives others.
struct NamingCalls {
  int (*link)(int folder, const char* from, const char* to);
  int (*rename_if_absent)(int folder, const char* from, const char* to);
};
const NamingCalls& system_naming_calls();

// 32 hexadecimal digits that no other process has: those of containers that share a volume have the same ids.
Result<std::string> random_name();

// Gives the file `from` the name `to`; it may keep the other one. By a hard link, or where the file system has none by
// a rename that replaces nothing. kAlreadyExists when the name is taken, kUnimplemented where there is neither.
// `described` is for the message.
Status give_name_if_absent(const FileDescriptor& folder, const std::string& from, const std::string& to,
                           const std::string& described, const NamingCalls& calls = system_naming_calls());

}  // namespace trainwarden::storage
