// Storage: every touch of a disk or an object store, behind one interface.
//
// Paths are relative to the storage's root, which itself is "", with '/' between the parts. Absolute paths and the
// parts "", "." and ".." are refused with kInvalidArgument. The folder of a file must be there before the file.
//
// All methods may be called from many threads at once; a file object belongs to one thread at a time. Codes: kNotFound
// (also when a part of the path is not a folder), kAlreadyExists, kPermissionDenied (read-only, not ours),
// kResourceExhausted (full, quota), kUnavailable (passing), kInternal. Messages name the path and the system's reason.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

// Of Storage::read(), unless a caller has another one.
inline constexpr std::uint64_t kReadLimit = 16u << 20;

// An append-only file that is being written.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  // Appends the parts one after the other, as with one writev. Once it has returned ok, readers see them and they
  // survive a kill of this process. After an error an unknown part of them may be in the file, and every later append
  // is refused with kFailedPrecondition.
  virtual Status append(std::span<const ByteSpan> parts) = 0;
  virtual Status sync() = 0;                // returns when everything appended is on the medium
  virtual Status close() = 0;               // idempotent
  virtual std::uint64_t bytes() const = 0;  // appended so far
};

// A file's bytes in memory that may only be read. They stay as long as this object, whatever becomes of the file's
// name.
class FileMapping {
 public:
  virtual ~FileMapping() = default;
  virtual ByteSpan bytes() const = 0;
  // The range lies in the machine's memory and may be touched for nothing. False when it does not, or nobody knows:
  // reading the file is then faster than touching the bytes, and says what is wrong with the medium.
  virtual bool resident(std::uint64_t offset, std::uint64_t bytes) const = 0;
};

class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  // Fills `destination` from `offset`; returns how many bytes there were, fewer only at the end of the file.
  virtual Result<std::size_t> read_at(std::uint64_t offset, MutableByteSpan destination) const = 0;
  virtual Result<std::uint64_t> bytes() const = 0;  // now; a live file grows
  // What of them occupies the medium, now: holes do not. Where that cannot be seen, bytes().
  virtual Result<std::uint64_t> stored_bytes() const { return bytes(); }
  // The whole file, for files that nobody writes any more: should one be made shorter, reading what is gone kills the
  // process. kUnimplemented where the storage cannot.
  virtual Result<std::shared_ptr<const FileMapping>> map() const {
    return Status(Code::kUnimplemented, "files of this storage cannot be mapped; read them");
  }
};

// What a storage knows of a file or a folder without reading it.
struct FileInfo {
  enum class Kind {
    kFile,
    kFolder,
    kLink,   // of the file system. It is reported and never followed
    kOther,  // a pipe, a device
  };
  Kind kind = Kind::kFile;
  std::uint64_t bytes = 0;           // of a file
  std::int64_t changed_unix_ns = 0;  // its content; of a folder, the names in it
  // Tells it from every other file that had or will have its name, as far as the storage can. 0: it cannot.
  std::uint64_t identity = 0;
};

struct Entry {
  std::string name;
  FileInfo info;
};

// Held as long as the object lives; the system frees it when the process dies.
class Lock {
 public:
  virtual ~Lock() = default;
  // Takes it again where it is lost without our doing, because the program has closed descriptors that are not its own.
  // A glance otherwise. kAlreadyExists when another process has it by now, or what lock() says.
  virtual Status keep() { return Status(); }
};

class Storage {
 public:
  virtual ~Storage() = default;

  virtual Result<std::unique_ptr<WritableFile>> create(const std::string& path) = 0;  // kAlreadyExists when it is there
  virtual Result<std::unique_ptr<ReadableFile>> open(const std::string& path) const = 0;
  // Appears whole or not at all; kAlreadyExists when somebody was first.
  virtual Status put_if_absent(const std::string& path, ByteSpan content) = 0;
  // The same, in place of what is there. Readers see the one or the other. It may be gone after a power loss.
  virtual Status replace(const std::string& path, ByteSpan content) = 0;
  // kOutOfRange when the file is larger than `limit_bytes`.
  virtual Result<std::string> read(const std::string& path, std::uint64_t limit_bytes = kReadLimit) const = 0;

  virtual Status create_folder(const std::string& path) = 0;  // with its parents; fine when it is there
  // Names directly inside `path`, sorted. kNotFound when there is no such folder.
  virtual Result<std::vector<std::string>> list(const std::string& path) const = 0;
  // The same with what is known of each, links among them. An entry that goes meanwhile is left out.
  virtual Result<std::vector<Entry>> entries(const std::string& path) const = 0;
  virtual Result<FileInfo> info(const std::string& path) const = 0;
  virtual bool exists(const std::string& path) const = 0;

  // kAlreadyExists when another process (or this one) holds it; the message names the holder's process id.
  // kUnimplemented where the storage has no locks (store/storage/lease.h).
  virtual Result<std::unique_ptr<Lock>> lock(const std::string& path) = 0;
  virtual bool locked(const std::string& path) const = 0;  // by anybody; does not take it
  // False: nobody can have a lock here, and what lies here may have been copied from where somebody has one.
  virtual bool has_locks() const { return true; }
  // The id of the process of this machine that holds it right now, as far as that can be proved: never one that had it
  // once, or that has the same id on another machine. Nothing when it is free, when who holds it cannot be seen from
  // here, and for storages without processes.
  virtual std::optional<std::int64_t> lock_holder(const std::string&) const { return std::nullopt; }

  virtual std::string describe(const std::string& path) const = 0;  // the full path, for messages
};

}  // namespace trainwarden::storage
