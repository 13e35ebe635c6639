// Saves a tensor into the run runs/first and reads it back.
#include <trainwarden/trainwarden.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

constexpr const char* kRunDir = "runs/first";

bool failed(std::string_view what, const trainwarden::Status& status) {
  if (status.ok()) return false;
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(what.size()), what.data(), status.to_string().c_str());
  return true;
}

bool save() {
  auto hook = trainwarden::Hook::open({.run_dir = kRunDir, .save_all = true});
  if (failed("open hook", hook.status())) return false;
  const std::array<float, 4> weights = {1.0F, 2.0F, 3.0F, 4.0F};
  (*hook)->save_tensor("weights", trainwarden::TensorView::of(weights.data(), trainwarden::DType::kFloat32, {2, 2}));
  (*hook)->end_step();
  return !failed("close hook", (*hook)->close());
}

bool read_back() {
  auto trial = trainwarden::Trial::open(kRunDir);
  if (failed("open trial", trial.status())) return false;
  const auto value = (*trial)->value("weights", 0);
  if (failed("read value", value.status())) return false;
  if (value->to_doubles() == std::vector<double>{1, 2, 3, 4}) return true;
  std::fprintf(stderr, "the value that came back is not the one that was saved\n");
  return false;
}

}  // namespace

int main() {
  return save() && read_back() ? 0 : 1;
}
