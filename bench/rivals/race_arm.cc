// The process of a contender in C++: a piece of work each, as arm.py has it in Python.
//
//   race_arm ours|plain write|read|live-write|live-read LOAD_FILE POOL FOLDER
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "../bench.h"
#include "race_contender.h"

namespace trainwarden::bench {
namespace {

using nlohmann::json;

constexpr std::chrono::microseconds kPoll{500};  // as arm.py
constexpr std::chrono::seconds kLiveLimit{60};

struct Work {
  bool ours = false;
  std::filesystem::path folder;
  RaceLoad load;

  std::unique_ptr<RaceWriter> writer() const { return ours ? open_our_writer(folder) : open_plain_writer(folder); }
  std::unique_ptr<RaceReader> reader() const { return ours ? open_our_reader(folder) : open_plain_reader(folder); }
};

void say(const json& answer) {
  std::cout << answer.dump() << std::endl;
}

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

// A number of each page: what is only promised has to be there.
void touch(const RaceBytes& value) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < value.bytes; i += 4096) sum += static_cast<unsigned>(value.data[i]);
  keep(sum);
}

void must_equal(const Work& work, const RaceBytes& value, const RaceTensor& tensor, int step) {
  if (value.bytes == tensor.bytes && std::equal(value.data, value.data + value.bytes, work.load.data(tensor, step))) {
    return;
  }
  throw std::runtime_error(tensor.name + " was not read as it was written, at step " + std::to_string(step));
}

std::uint64_t folder_bytes(const std::filesystem::path& folder) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

// Everything that was written there is on the medium.
void sync_file_system(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::syncfs(descriptor) == 0;
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) throw std::runtime_error("cannot sync " + folder.string());
}

json write(const Work& work) {
  const double ns = elapsed_ns([&] {
    const auto writer = work.writer();
    for (int step = 0; step < work.load.steps(); ++step) writer->write_step(work.load, step);
    writer->close();
  });
  const double sync_ns = elapsed_ns([&] { sync_file_system(work.folder); });
  return {{"write", ns}, {"synced", ns + sync_ns}, {"bytes", folder_bytes(work.folder)}};
}

void check_lists(const Work& work, std::vector<std::string> names, std::vector<std::int64_t> steps) {
  std::vector<std::string> wanted;
  for (const RaceTensor& tensor : work.load.tensors()) wanted.push_back(tensor.name);
  std::vector<std::int64_t> wanted_steps(static_cast<std::size_t>(work.load.steps()));
  std::iota(wanted_steps.begin(), wanted_steps.end(), 0);
  std::sort(wanted.begin(), wanted.end());
  std::sort(names.begin(), names.end());
  std::sort(steps.begin(), steps.end());
  if (names != wanted || steps != wanted_steps) throw std::runtime_error("lists other names or steps");
}

json read(const Work& work) {
  const RaceLoad& load = work.load;
  const int last = load.steps() - 1;
  std::unique_ptr<RaceReader> reader;
  std::vector<std::string> names;
  std::vector<std::int64_t> steps;
  std::vector<RaceBytes> of_tensor;
  std::vector<RaceBytes> of_step;
  const double open_ns = elapsed_ns([&] { reader = work.reader(); });
  const double list_ns = elapsed_ns([&] {
    names = reader->names();
    steps = reader->steps();
  });
  const auto take = [&](std::vector<RaceBytes>& values, const RaceTensor& tensor, int step) {
    values.push_back(reader->value(tensor.name, step));
    touch(values.back());
  };
  const double tensor_ns = elapsed_ns([&] {
    for (int step = 0; step <= last; ++step) take(of_tensor, load.middle(), step);
  });
  const double step_ns = elapsed_ns([&] {
    for (const RaceTensor& tensor : load.tensors()) take(of_step, tensor, last);
  });
  check_lists(work, names, steps);
  for (int step = 0; step <= last; ++step)
    must_equal(work, of_tensor[static_cast<std::size_t>(step)], load.middle(), step);
  for (std::size_t i = 0; i < of_step.size(); ++i) must_equal(work, of_step[i], load.tensors()[i], last);
  return {{"open", open_ns}, {"list", list_ns}, {"tensor", tensor_ns}, {"step", step_ns}};
}

json live_write(const Work& work) {
  const auto writer = work.writer();
  std::string line;
  for (int step = 0; step < work.load.steps(); ++step) {
    std::getline(std::cin, line);
    const std::int64_t begin = now_ns();
    writer->write_step(work.load, step);
    say({{"begin", begin}, {"end", now_ns()}});
  }
  std::getline(std::cin, line);
  writer->close();
  return json::object();
}

json live_read(const Work& work) {
  const RaceTensor& tensor = work.load.tensors().back();
  const auto reader = work.reader();
  for (int step = 0; step < work.load.steps(); ++step) {
    say({{"ready", step}});
    const auto limit = std::chrono::steady_clock::now() + kLiveLimit;
    auto value = reader->look(tensor.name, step);
    while (!value) {
      if (std::chrono::steady_clock::now() > limit) throw std::runtime_error("a step was not seen");
      std::this_thread::sleep_for(kPoll);
      value = reader->look(tensor.name, step);
    }
    touch(*value);
    const std::int64_t seen = now_ns();
    must_equal(work, *value, tensor, step);
    say({{"seen", seen}});
  }
  return json::object();
}

int run(std::span<char*> arguments) {
  if (arguments.size() != 6) {
    std::cerr << "usage: race_arm ours|plain write|read|live-write|live-read LOAD_FILE POOL FOLDER\n";
    return 2;
  }
  try {
    const Work work{std::string_view(arguments[1]) == "ours", arguments[5], RaceLoad(arguments[3], arguments[4])};
    const std::string_view kind = arguments[2];
    const auto act = kind == "write" ? write : kind == "read" ? read : kind == "live-write" ? live_write : live_read;
    say({{"done", act(work)}});
    return 0;
  } catch (const std::exception& error) {
    say({{"error", error.what()}});
    return 1;
  }
}

}  // namespace
}  // namespace trainwarden::bench

int main(int argc, char** argv) {
  return trainwarden::bench::run(std::span(argv, static_cast<std::size_t>(argc)));
}
