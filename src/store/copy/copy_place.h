// Which ends are meant by the addresses that a user writes.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "core/base/environment.h"
#include "store/copy/copy_end.h"

namespace trainwarden::copy {

struct CopyOrder {
  std::string from, to;  // a path, "file://...", "s3://BUCKET/PREFIX"
  // `to` is the copy of the folder `from`, whatever is there. Else a '/' at its end, or a folder that a file is copied
  // to, says that the name follows.
  bool is_sync = false;
  std::uint64_t max_bytes_per_second = 0;  // of each connection to a bucket; 0: no limit
};

struct CopyEnds {
  std::shared_ptr<CopyEnd> from, to;
  std::string from_address, to_address;  // of what is copied, and of its copy
  bool is_file = false;
};

// kNotFound: nothing is at `from`. kInvalidArgument: an address is none, or one of them lies within the other.
// kUnimplemented: addresses of stores that are not reached. Errors of the bucket.
Result<CopyEnds> find_ends(const CopyOrder& order, const Environment& environment, const std::stop_token& stop);

}  // namespace trainwarden::copy
