// What smdebug_reader.py does, in C++ and with our Trial: smdebug_reader RUN RESULT [TENSOR]
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainwarden/trial.h"

namespace trainwarden::bench {
namespace {

using Clock = std::chrono::steady_clock;

template <class T>
T must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().to_string());
  return *std::move(result);
}

std::string hexadecimal(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void read_trial(const std::string& run, const std::string& result, const std::string& tensor) {
  const auto start = Clock::now();
  const auto trial = must(Trial::open(run));
  const std::vector<std::string> names = must(trial->tensor_names());
  const std::vector<std::int64_t> steps = trial->steps();
  const auto opened = Clock::now();
  std::vector<TensorValue> values;
  if (!tensor.empty()) {
    for (const std::int64_t step : trial->steps_of(tensor)) values.push_back(must(trial->value(tensor, step)));
  }
  const auto done = Clock::now();
  std::ofstream file(result);
  file << fmt::format("{} {} {}\n", (opened - start).count(), (done - opened).count(), peak_kib());
  file << fmt::format("{}\n{}\n", fmt::join(names, " "), fmt::join(steps, " "));
  for (const TensorValue& value : values) {
    file << fmt::format("{} {} {}\n", name(value.dtype), fmt::join(value.shape.sizes(), " "), hexadecimal(value.data));
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + result);
}

}  // namespace
}  // namespace trainwarden::bench

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    fmt::print(stderr, "Usage: smdebug_reader RUN RESULT [TENSOR]\n");
    return 2;
  }
  try {
    trainwarden::bench::read_trial(argv[1], argv[2], argc == 4 ? argv[3] : "");
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "smdebug_reader: {}\n", error.what());
    return 1;
  }
}
