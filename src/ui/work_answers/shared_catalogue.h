// SharedCatalogue: one catalogue, which the threads of a server use in turn.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "work/catalogue/catalogue.h"

namespace trainwarden::work_answers {

// All methods may be called from many threads at once.
class SharedCatalogue {
 public:
  // Nothing is opened before the first question.
  explicit SharedCatalogue(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // `question` is a call of one of its methods, and gets the catalogue alone. Its errors, and those of
  // Catalogue::open(). Notes go to the log.
  template <class Question>
  auto ask(const Question& question) -> decltype(question(std::declval<catalogue::Catalogue&>())) {
    const std::lock_guard lock(mutex_);
    if (const Status opened = open(); !opened.ok()) return opened;
    auto answer = question(*catalogue_);
    log_notes();
    return answer;
  }

 private:
  Status open();
  void log_notes();

  const std::filesystem::path folder_;
  std::mutex mutex_;
  std::optional<catalogue::Catalogue> catalogue_;
};

}  // namespace trainwarden::work_answers
