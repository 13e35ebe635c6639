// CopyEnd: where a copy comes from or goes to, a folder or a file of this machine or of a bucket. What a copy does is
// copy_tree.h.
//
// All methods may be called from many threads at once; what open() and receive() give belongs to one copy of a file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "store/s3/appended_file.h"
#include "trainwarden/status.h"

namespace trainwarden::copy {

struct CopyFile {
  std::string path;  // within the end; "" where the end itself is a file
  std::uint64_t bytes = 0;
  std::int64_t changed_unix_ns = 0;
  std::uint64_t identity = 0;            // of a file of this machine, as storage::FileInfo has it
  std::vector<storage::FilePart> parts;  // of a bucket: the objects that its bytes are

  // Pieces of a file that grew: it may become one object at any time.
  bool is_pieces() const;
};

struct LeftOut {
  std::string path, why;
};

struct CopyListing {
  std::vector<CopyFile> files;         // in order of their paths
  std::vector<std::string> links;      // are not followed
  std::vector<LeftOut> left_out;       // cannot be copied
  std::vector<std::string> leftovers;  // files that have not arrived whole
};

// What the content of a file must be, as far as its bucket knows: the tag of bytes that follow one another.
struct TaggedRange {
  std::uint64_t offset = 0, bytes = 0;
  std::string etag;
  std::uint64_t part_bytes = 0;  // in which it was put; 0: at once
  bool is_guess = false;         // of part_bytes: another tag proves nothing
};

class FileReader {
 public:
  virtual ~FileReader() = default;
  // All of `destination`. kAborted or kNotFound: it is another file by now.
  virtual Status read(std::uint64_t offset, MutableByteSpan destination) = 0;
};

enum class Arrival { kSent, kWasThere };

// A file that arrives. Chunk i of it has the bytes from i * chunk_bytes(); each is put once, from any thread.
class FileReceiver {
 public:
  virtual ~FileReceiver() = default;
  virtual std::uint64_t chunk_bytes() const = 0;
  virtual std::uint64_t first_chunk() const { return 0; }  // those before it are there
  // May wait for the chunks before it: so they are put from the first to the last.
  virtual Result<Arrival> put(std::uint64_t chunk, ByteSpan content) = 0;
  // This chunk does not come, and none behind it is put. What has arrived stays for another try.
  virtual void fail(std::uint64_t) {}
  // What has arrived, to be compared; null: the receiver has compared it.
  virtual FileReader* arrived() { return nullptr; }
  // It is whole, and gets its name. kDataLoss: it has other bytes than were put.
  virtual Status finish() = 0;
  // What has arrived is wrong or not wanted: it is removed.
  virtual void discard() = 0;
};

class CopyEnd {
 public:
  virtual ~CopyEnd() = default;
  // kNotFound: nothing is there.
  virtual Result<CopyListing> list() = 0;
  virtual Result<CopyFile> look(const CopyFile& file) = 0;  // as it is now
  virtual Result<std::unique_ptr<FileReader>> open(const CopyFile& file) = 0;
  // To be what `file` of another end is. `before`: what is there now.
  virtual Result<std::unique_ptr<FileReceiver>> receive(const CopyFile& file, const std::string& source,
                                                        const CopyFile* before) = 0;
  // The file within this end's own server, without its bytes passing here. kUnimplemented: that cannot be done.
  virtual Status take_directly(const CopyFile&, CopyEnd&) { return Status(Code::kUnimplemented, "not here"); }
  virtual Status remove(const CopyFile& file) = 0;
  virtual Result<bool> remove_leftover(const std::string& path) = 0;  // false: it is gone, or a process is at it
  // Of what was begun under this end and is not gone on with: parts of `files` alone, or of any other file too. How
  // many there were.
  virtual Result<std::uint64_t> end_unfinished(const std::vector<CopyFile>&, bool) { return std::uint64_t{0}; }
  // Empty where nothing is known.
  virtual Result<std::vector<TaggedRange>> tags(const CopyFile&) { return std::vector<TaggedRange>(); }
  // By how much the times of its files may be ahead of this machine's clock.
  virtual std::int64_t ahead_ns() const { return 0; }
  virtual bool keeps_times() const = 0;                                 // a file gets the time of its source
  virtual std::optional<std::uint64_t> room() { return std::nullopt; }  // for files
  virtual std::string describe(const std::string& path) const = 0;
};

}  // namespace trainwarden::copy
