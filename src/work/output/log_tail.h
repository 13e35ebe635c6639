// LogTail: a file that a program prints into, read as it grows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/file_descriptor.h"
#include "trainwarden/status.h"

namespace trainwarden::output {

// Follows the file that it has opened, also where that is renamed: the program goes on writing into it. One that has
// become shorter (it was emptied where it lies) is read from its beginning again. One thread at a time.
class LogTail {
 public:
  // From its end on. kNotFound, kPermissionDenied; kInvalidArgument when it is no regular file, whose reading could
  // wait for somebody.
  static Result<LogTail> open_at_end(const std::filesystem::path& file);
  // From its byte `offset` on; should it have fewer by now, from its beginning. Errors as open_at_end().
  static Result<LogTail> open_at(const std::filesystem::path& file, std::uint64_t offset);

  // What is new, in pieces; empty: nothing for now. Valid until the next call. An error is the system's, call again.
  Result<std::string_view> read();

  std::uint64_t offset() const { return offset_; }      // in the file, of what comes next
  std::uint64_t bytes() const { return bytes_; }        // read so far
  std::uint64_t restarts() const { return restarts_; }  // the file had become shorter

 private:
  LogTail(FileDescriptor file, std::uint64_t offset);

  FileDescriptor file_;
  std::string piece_;
  std::uint64_t offset_;
  std::uint64_t bytes_ = 0;
  std::uint64_t restarts_ = 0;
};

}  // namespace trainwarden::output
