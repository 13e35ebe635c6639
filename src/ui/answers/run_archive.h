// RunArchive: what a person would look at of a run, as the answers of the server: for a page without a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/storage/location.h"
#include "ui/answers/answers.h"

namespace trainwarden::answers {

struct ArchivedAnswer {
  std::string address;  // below /api/v1
  std::shared_ptr<const std::string> body;
};

struct RunArchive {
  std::string run_name;
  std::vector<ArchivedAnswer> answers;
  std::size_t bytes = 0;     // of all bodies
  std::size_t left_out = 0;  // answers that would have been too much
};

// The texts of the training (answer_texts.h) are what a stranger may have to do without.
enum class Texts { kKept, kLeftOut };

// What is most looked at comes first: the run and its lists, numbers over steps, the tensors' statistics and
// histograms, attention at a few steps. Answers beyond `most_bytes` in all are left out. The errors of Trial::open.
Result<RunArchive> archive_run(const storage::Location& run, std::size_t most_bytes, Texts texts = Texts::kKept);

}  // namespace trainwarden::answers
