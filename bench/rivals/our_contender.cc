// Ours, by its public headers, as programs in C++ have it.
#include <stdexcept>

#include "race_contender.h"
#include "trainwarden/hook.h"
#include "trainwarden/trial.h"

namespace trainwarden::bench {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().to_string());
  return *std::move(result);
}

class OurWriter final : public RaceWriter {
 public:
  explicit OurWriter(const std::filesystem::path& folder) {
    HookOptions options;
    options.run_dir = folder;
    options.save_all = true;
    options.save = SavePolicy::every(1);
    options.when_full = WhenFull::kBlock;  // nothing may be lost here
    hook_ = must(Hook::open(std::move(options)));
  }

  void write_step(const RaceLoad& load, int step) override {
    for (const RaceTensor& tensor : load.tensors()) hook_->save_tensor(tensor.name, load.view(tensor, step));
    hook_->end_step();
  }

  void close() override {
    const Status closed = hook_->close();
    if (!closed.ok()) throw std::runtime_error(closed.to_string());
    if (!hook_->report().losses.empty()) throw std::runtime_error("the hook lost tensors");
  }

 private:
  std::unique_ptr<Hook> hook_;
};

class OurReader final : public RaceReader {
 public:
  explicit OurReader(const std::filesystem::path& folder) : trial_(must(Trial::open(folder))) {}

  std::vector<std::string> names() override { return must(trial_->tensor_names()); }
  std::vector<std::int64_t> steps() override { return trial_->steps(); }

  RaceBytes value(std::string_view tensor, int step) override {
    SharedTensorValue value = must(trial_->shared_value(tensor, step));
    return {static_cast<const std::byte*>(value.view.data),
            static_cast<std::size_t>(value.view.shape.element_count()) * sizeof(float), std::move(value.owner)};
  }

  std::optional<RaceBytes> look(std::string_view tensor, int step) override {
    const Status refreshed = trial_->refresh();
    if (!refreshed.ok()) throw std::runtime_error(refreshed.to_string());
    if (trial_->last_complete_step() < step) return std::nullopt;
    return value(tensor, step);
  }

 private:
  std::unique_ptr<Trial> trial_;
};

}  // namespace

std::unique_ptr<RaceWriter> open_our_writer(const std::filesystem::path& folder) {
  return std::make_unique<OurWriter>(folder);
}
std::unique_ptr<RaceReader> open_our_reader(const std::filesystem::path& folder) {
  return std::make_unique<OurReader>(folder);
}

}  // namespace trainwarden::bench
