// RunArchive: what a person would look at of a run, as the answers of the server: for a page without a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
  std::string profile{};     // with Contents::kProfile: its document
};

// The texts of the training (answer_texts.h) are what a stranger may have to do without.
enum class Texts { kKept, kLeftOut };

// What of the run.
enum class Contents {
  kAll,  // the run and its lists, numbers over steps, the tensors' statistics and histograms, attention at a few steps
  kProfile,  // what the views of a run's home and of where its time went ask for
};

struct ArchiveChoice {
  std::size_t most_bytes = std::size_t{64} << 20;  // of all answers; those beyond it are left out
  Texts texts = Texts::kKept;
  Contents contents = Contents::kAll;
  std::optional<storage::Location> against{};  // with kProfile: the run that the profile is compared with
};

// What is most looked at comes first. The errors of Trial::open.
Result<RunArchive> archive_run(const storage::Location& run, const ArchiveChoice& choice = {});

}  // namespace trainwarden::answers
