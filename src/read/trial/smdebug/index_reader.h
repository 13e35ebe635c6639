// IndexReader: reads and parses many small index files at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "data/foreign/smdebug_index.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::trial {

struct IndexFile {
  std::string path;
  std::int64_t step = 0;
  std::string worker;
};

struct ReadIndex {
  Status status;  // the index counts only when it is ok
  std::uint64_t file_bytes = 0;
  foreign::SmdebugIndex index;
};

// One thread at a time; while there is much to read, it has a few more at work, which are gone when read() returns.
class IndexReader {
 public:
  explicit IndexReader(const storage::Storage& storage) : storage_(storage) {}

  // What each of the files holds. Valid until the next call, which uses the memory again.
  std::span<const ReadIndex> read(std::span<const IndexFile> files);

  // Files that cannot be used are read again and again, and may be large: after so many bytes of them no others are
  // read, until the next call of this.
  void forget_unusable() { unusable_bytes_ = 0; }
  static constexpr std::uint64_t kMostUnusableBytes = 256u << 20;

 private:
  void read(const IndexFile& file, foreign::SmdebugIndexParser& parser, ReadIndex& result);
  void work(std::span<const IndexFile> files, std::atomic<std::size_t>& next, foreign::SmdebugIndexParser& parser);

  const storage::Storage& storage_;
  std::vector<std::unique_ptr<foreign::SmdebugIndexParser>> parsers_;  // one for each thread
  std::vector<ReadIndex> results_;
  // One large file at a time, also where several trials are open: a parser takes some fourteen times its bytes.
  static inline std::mutex large_;
  std::atomic<std::uint64_t> unusable_bytes_ = 0;
};

}  // namespace trainwarden::trial
