// FileCopy: one file on its way, chunk by chunk.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "store/copy/copy_end.h"

namespace trainwarden::copy {

class FileCopy {
 public:
  FileCopy(CopyEnd& from, CopyEnd& to, CopyFile file, std::optional<CopyFile> before)
      : from_(from), to_(to), file_(std::move(file)), before_(std::move(before)) {}

  // Before the first chunk, and again after finish() wants another try.
  Status begin();
  // The next one to be copied; nothing: all are under way. By one thread at a time.
  std::optional<std::uint64_t> next_chunk();
  bool has_next_chunk() const { return !has_failed_ && next_chunk_ < chunks_; }
  // From many threads. What is put in the buffer stays its thread's.
  Status read_chunk(std::uint64_t chunk, std::string& buffer);
  Result<Arrival> put_chunk(std::uint64_t chunk, const std::string& buffer);
  void fail(std::uint64_t chunk, const Status& status);
  // Once each chunk that was taken has come back. Ok: the file is there. `is_checked`: its content was compared.
  Status finish(bool reads_both, bool& is_checked, const std::stop_token& stop);
  // Is it worth another try, and has it been tried seldom enough? Its source was looked at anew then.
  bool may_try_again(const Status& status);

  const CopyFile& file() const { return file_; }
  std::uint64_t bytes_there() const { return bytes_there_; }  // were there when it was begun
  int under_way = 0;                                          // chunks; guarded by who hands them out

 private:
  std::uint64_t bytes_of_chunk(std::uint64_t chunk) const;
  Status check_arrived(bool reads_both, bool& is_checked, const std::stop_token& stop);
  Status check_unchanged();
  Status failure() const;

  CopyEnd& from_;
  CopyEnd& to_;
  CopyFile file_;
  const std::optional<CopyFile> before_;
  std::unique_ptr<FileReceiver> receiver_;
  std::uint64_t chunks_ = 0, next_chunk_ = 0, chunk_bytes_ = 1, bytes_there_ = 0;
  int tries_ = 0;
  std::atomic<bool> has_failed_ = false;
  mutable std::mutex mutex_;
  Status failure_;
};

}  // namespace trainwarden::copy
