// Any file as a storage of Optuna, a journal or a database: it is refused with a message, or what has happened in each
// of its studies is what a study of ours takes, whole.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tune/optuna/past_study.h"
#include "tune/study/study_state.h"

namespace {

using namespace trainwarden;

// The readers take a file by its path. One of this process, which is gone with it.
class InputFile {
 public:
  InputFile() : path_(std::filesystem::temp_directory_path() / ("fuzz_optuna." + std::to_string(getpid()))) {}
  ~InputFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::filesystem::path& write(const std::uint8_t* data, std::size_t bytes) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    return path_;
  }

 private:
  std::filesystem::path path_;
};

bool is_refused(const Status& status) {
  if (status.ok()) return false;
  if (status.message().empty()) std::abort();
  return true;
}

void import(const tune::OptunaStudy& study) {
  auto past = tune::past_of(study, 1);
  if (is_refused(past.status())) return;
  past->spec.name = "imported";
  tune::StudyState state(past->spec);
  for (const tune::StudyEvent& event : past->events) {
    if (is_refused(state.apply(event))) return;
  }
  if (state.history().trials.size() + past->left_out != study.trials.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static InputFile file;
  const std::filesystem::path& path = file.write(data, bytes);
  const auto names = tune::optuna_study_names(path);
  if (is_refused(names.status())) return 0;
  for (const std::string& name : *names) {
    const auto study = tune::read_optuna_study(path, name);
    if (!is_refused(study.status())) import(*study);
  }
  return 0;
}
