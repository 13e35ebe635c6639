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
  std::string document{};    // with Contents::kProfile: the profile that it holds
};

// Where it opens.
struct OneFileStart {
  std::string view{};  // empty: the run's home
  std::string mark{};  // a comment of ours in its second line, by which we know a file that we wrote
};

// The answers are compressed; of more text than ArchiveChoice::most_bytes browsers take badly. The errors of
// Trial::open; kFailedPrecondition when the program was built without its page.
Result<OneFilePage> one_file_page(const storage::Location& run, const ArchiveChoice& choice = {},
                                  const OneFileStart& start = {});

}  // namespace trainwarden::answers
