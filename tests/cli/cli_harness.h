// What the tests of the command line share: a folder of runs, and the binary run on it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/types.h>
#include <nlohmann/json.hpp>

namespace trainwarden::testing_cli {

struct Outcome {
  int exit_code = -1;  // 128 + N when signal N ended it
  std::string out;
  std::string err;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

// A program that goes on while the test does. Its output goes to files.
class Background {
 public:
  Background(const std::vector<std::string>& command, const std::filesystem::path& folder);
  ~Background();  // ends it if it still runs
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  pid_t id() const { return id_; }
  std::string out_so_far() const;
  void await_output(const std::string& text) const;  // fails the test after a minute
  void await_nap() const;  // until it sleeps between two looks, of which one was made; fails the test after a minute
  Outcome wait();

 private:
  std::filesystem::path out_file_;
  std::filesystem::path err_file_;
  pid_t id_ = -1;
};

// Each test has a folder of its own with a folder `runs` in it, and TRAINWARDEN_RUNS set to that.
class CliTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  Outcome cli(std::vector<std::string> arguments) const;
  Outcome shell(const std::string& script) const;  // $TW is the binary
  std::vector<std::string> cli_command(std::vector<std::string> arguments) const;

  // Trains through the real hook into runs/NAME, with options of tiny_training.
  void train(const std::string& name, std::vector<std::string> options = {}) const;
  std::filesystem::path run_path(const std::string& name) const { return runs_ / name; }

  static void await(const std::function<bool()>& is_so);  // fails the test after a minute
  static void await_file(const std::filesystem::path& file, std::uintmax_t min_bytes = 0);  // so does this

  std::filesystem::path folder_;
  std::filesystem::path runs_;
};

std::string read_file(const std::filesystem::path& path);
std::filesystem::path cli_binary();
std::filesystem::path tiny_training();

}  // namespace trainwarden::testing_cli
