// PartialFile: a file of this machine that arrives piece by piece, from one process after the other if need be. Until
// it is whole it has a name of its own beside its place, ".NAME.KEY.trainwarden-part".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/file_descriptor.h"
#include "store/storage/beneath.h"

namespace trainwarden::storage {

// One thread at a time, but for read_at(). What is there stays there when this goes before finish().
class PartialFile {
 public:
  // Of the file `path`, whose folder is made where it is not there. `key` tells which content it is to get: what
  // another process has left under the same key is gone on with. kAlreadyExists: another process is at it.
  static Result<std::unique_ptr<PartialFile>> open(const Beneath& beneath, const std::string& path,
                                                   const std::string& key);

  std::uint64_t bytes() const { return bytes_; }  // that are there, from its beginning
  Status cut(std::uint64_t bytes);                // what is behind them goes
  Status append(ByteSpan content);
  Result<std::size_t> read_at(std::uint64_t offset, MutableByteSpan destination) const;
  // It gets its name, in place of what has it; all of it is on the medium then. Its time of change is set.
  Status finish(std::int64_t changed_unix_ns);
  void discard();  // it is not wanted

 private:
  PartialFile(FileDescriptor folder, FileDescriptor file, std::string name, std::string temporary,
              std::string described)
      : folder_(std::move(folder)),
        file_(std::move(file)),
        name_(std::move(name)),
        temporary_(std::move(temporary)),
        described_(std::move(described)) {}
  Status error(std::string_view action) const;

  FileDescriptor folder_, file_;
  std::string name_, temporary_, described_;
  std::uint64_t bytes_ = 0;
};

// Is it that of a file which has not arrived whole?
bool is_partial_name(std::string_view name);
// What such names begin with that belong to the file of this name.
std::string partial_beginning(std::string_view name);

// Fine when it is not there. A link is removed, and not what it leads to.
Status remove_local_file(const Beneath& beneath, const std::string& path);
// Of a file that has not arrived whole; false: it is gone, or a process is at it.
Result<bool> remove_partial_file(const Beneath& beneath, const std::string& path);
// The folder and those around it, as far as nothing is in them; not the root.
void remove_empty_folders(const Beneath& beneath, std::string path);

}  // namespace trainwarden::storage
