// OpenStudies: studies that stay open between questions, so that each question reads only what is new.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "tune/study/study.h"

namespace trainwarden::work_answers {

// So many trials stay in memory, of all studies together; those that were asked for least lately are read again.
inline constexpr std::size_t kMostOpenTrials = 200'000;

// From any thread. Who asks for the same study waits for another.
class OpenStudies {
 public:
  // The folder need not be there.
  explicit OpenStudies(storage::Location folder, std::size_t most_trials = kMostOpenTrials)
      : folder_(std::move(folder)), most_trials_(most_trials) {}

  const storage::Location& folder() const { return folder_; }
  Result<std::vector<std::string>> names() const { return tune::Study::list(folder_); }

  // Calls `look` with the study as it stands now. `name` may be anybody's text: kNotFound when no study has it.
  Status with(const std::string& name, const std::function<void(const tune::Study&)>& look);

 private:
  struct Kept {
    std::mutex mutex;
    std::unique_ptr<tune::Study> study;
    std::uint64_t identity = 0;  // of its study.json: another one may have been made under the name
  };
  struct Place {
    std::shared_ptr<Kept> kept = std::make_shared<Kept>();
    std::size_t trials = 0;
    std::uint64_t used = 0;  // when, counted by questions
  };

  std::shared_ptr<Kept> take(const std::string& name);
  Status look_again(const std::string& name, Kept& kept) const;
  void give_back(const std::string& name, std::size_t trials);
  void forget(const std::string& name);

  const storage::Location folder_;
  const std::size_t most_trials_;
  std::mutex mutex_;
  std::map<std::string, Place> places_;
  std::uint64_t questions_ = 0;
};

}  // namespace trainwarden::work_answers
