// The page with a run inside, in one file that works without a server and without a network.
#pragma once

#include <cstddef>
#include <string>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "ui/answers/run_archive.h"

namespace trainwarden::answers {

struct OneFilePage {
  std::string html;
  std::size_t answers = 0;   // that it holds (run_archive.h)
  std::size_t left_out = 0;  // that would have been too much
};

// Before they are compressed; browsers take some hundred megabytes of text badly.
inline constexpr std::size_t kMostOneFileBytes = std::size_t{64} << 20;

// The errors of Trial::open; kFailedPrecondition when the program was built without its page.
Result<OneFilePage> one_file_page(const storage::Location& run, Texts texts = Texts::kKept,
                                  std::size_t most_bytes = kMostOneFileBytes);

}  // namespace trainwarden::answers
