// What the descriptors of a program may lead to. All are close-on-exec here, and none has the number of a standard
// stream: this process may have been started without those, and what it prints must not go into them.
#pragma once

#include <string>
#include <string_view>

#include "core/base/file_descriptor.h"
#include "trainwarden/status.h"

namespace trainwarden::process {

struct Pipe {
  FileDescriptor reading;
  FileDescriptor writing;
};

// Its reading end does not block; the writing end does, as programs expect it. kUnavailable when the system has no room
// for one now; so for all of these.
Result<Pipe> open_pipe();

struct SocketPair {
  FileDescriptor ours;    // does not block
  FileDescriptor theirs;  // does
};
Result<SocketPair> open_socket_pair();

// A file in memory that holds the text and is read from its start. A pipe would need somebody to fill it.
Result<FileDescriptor> open_memory_file(std::string_view text);

Result<FileDescriptor> open_null();  // /dev/null, to read and to write
// Made when it is not there, emptied when it is. kPermissionDenied, kNotFound when its folder is not there.
Result<FileDescriptor> open_output_file(const std::string& path);
Result<FileDescriptor> open_log_file(
    const std::string& path);  // the same, but what it has stays, and is written behind

}  // namespace trainwarden::process
