// BucketMirror: keeps a folder of this machine, such as a run that is written, in a bucket too.
//
// The folder is the spool: whoever writes it never waits for the network, and what could not be sent stays here until
// it can. What has been sent is seen in the bucket itself, so a mirror goes on where one before it has ended, however
// it did. Lists of some servers are late: what is there of a segment is asked for by name before it is gone on with.
//
// - A segment that grows is sent in pieces (appended_file.h). Once it is whole it is sent as one object, and its pieces
//   are removed: at the latest then it has travelled twice.
// - Any other file is sent whole, when it is another one than there.
// - That a writer lives is sent before what it has written, and that it has ended after that: else who reads there
// would
//   take a run for dead of which the rest is under way.
// - Links, locks and temporary files stay here. Nothing is removed from the bucket but pieces.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/s3/appended_file.h"
#include "store/s3/s3_client.h"
#include "store/storage/storage.h"

namespace trainwarden::storage {

struct MirrorRound {
  std::uint64_t files = 0, bytes = 0;                // sent in this look
  std::uint64_t files_behind = 0, bytes_behind = 0;  // not there yet
  Status problem;                                    // the first one; ok: there was none
};

// One thread at a time.
class BucketMirror {
 public:
  // `prefix` of keys, without a '/' at its end.
  BucketMirror(std::shared_ptr<Storage> folder, std::shared_ptr<S3Client> client, std::string prefix);

  // Reads once what is in the bucket. Before look(). Errors as S3Client.
  Status begin();
  // Brings requests that somebody has put into the bucket's copy, control/stop-KEY.json and its like, to the folder:
  // who may write into the bucket then decides about the training. How many there were.
  Result<std::uint64_t> take_requests();
  // Sends what is new. `is_last`: nobody writes here any more, so that all segments are whole.
  MirrorRound look(bool is_last);

 private:
  struct There {                   // a file as it is in the bucket
    std::vector<FilePart> pieces;  // empty: it is one object
    std::uint64_t bytes = 0;
    std::string etag;
    FileInfo sent;             // what it was here when it was sent; identity 0: not by this mirror
    bool may_be_more = false;  // of a mirror before this one, than a list that is late has shown
  };
  struct Local {
    std::string path;
    FileInfo info;
    bool is_growing = false;
    std::optional<std::string> content{};  // of a lease, as it was before the other files were looked at
  };

  Status find_files(const std::string& folder, std::vector<Local>& files) const;
  Status find_leases(std::vector<Local>& alive, std::vector<Local>& ended) const;
  bool is_there(const Local& file);
  static std::vector<std::size_t> lanes_of(const std::vector<Local>& files);
  void send_all(const std::vector<Local>& files, MirrorRound& round);
  Status send(const Local& file, There& there, MirrorRound& round) const;
  Status look_by_name(const Local& file, There& there) const;
  Status send_growth(const Local& file, There& there, MirrorRound& round) const;
  Status send_whole(const Local& file, There& there, MirrorRound& round) const;
  Status remove_pieces(There& there) const;
  bool is_same(const Local& file, There& there) const;
  bool has_same_content(const Local& file, const There& there) const;
  std::uint64_t bytes_missing(const Local& file, There& there) const;
  std::string key_of(const std::string& path) const { return prefix_.empty() ? path : prefix_ + "/" + path; }

  const std::shared_ptr<Storage> folder_;
  const std::shared_ptr<S3Client> client_;
  const std::string prefix_;
  std::map<std::string, There> there_;  // by path
  bool has_looked_ = false;
};

}  // namespace trainwarden::storage
