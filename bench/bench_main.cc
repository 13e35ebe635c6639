// The command line of a bench program: which benchmarks to run, and how to print their figures.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench.h"

namespace trainwarden::bench {
namespace {

struct Arguments {
  bool json = false;
  bool list = false;
  std::vector<std::string> name_prefixes;
};

constexpr std::string_view kUsage =
    "Usage: <floor>_bench [--json] [--list] [NAME...]\n"
    "Measures and prints figures. NAME selects the benchmarks that begin with it.\n"
    "  --json  one JSON object a line instead of a table\n"
    "  --list  only the names\n";

bool selected(const Arguments& arguments, const std::string& name) {
  if (arguments.name_prefixes.empty()) return true;
  for (const std::string& prefix : arguments.name_prefixes) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

std::string limit_with_spread(const Figure& figure) {
  return fmt::format("{}; middle half of the runs {:.4g} to {:.4g}", figure.limit, figure.value.low, figure.value.high);
}

void print_json(const Figure& figure) {
  const nlohmann::ordered_json line = {
      {"name", figure.name},
      {"value", figure.value.median},
      {"unit", figure.unit},
      {"goal", figure.goal.to_string()},
      {"ok", figure.goal.met_by(figure.value.median)},
      {"limit", limit_with_spread(figure)},
  };
  fmt::print("{}\n", line.dump());
}

void print_row(const Figure& figure) {
  const bool has_goal = figure.goal.kind != Goal::Kind::kNone;
  const std::string_view mark = !has_goal ? "" : figure.goal.met_by(figure.value.median) ? "ok" : "MISSED";
  fmt::print("{:<36} {:>10.4g} {:<6} {:<10} {:<7} {}\n", figure.name, figure.value.median, figure.unit,
             has_goal ? figure.goal.to_string() : "", mark, limit_with_spread(figure));
}

// False when the measurement failed.
bool run(const Benchmark& benchmark, bool json) {
  const auto figures = benchmark.measure();
  if (!figures.ok()) {
    fmt::print(stderr, "{}: {}\n", benchmark.name, figures.status().to_string());
    return false;
  }
  for (const Figure& figure : *figures) json ? print_json(figure) : print_row(figure);
  std::fflush(stdout);
  return true;
}

int run_selected(const Arguments& arguments) {
  bool all_measured = true;
  for (const Benchmark& benchmark : benchmarks()) {
    if (!selected(arguments, benchmark.name)) continue;
    if (arguments.list) {
      fmt::print("{}\n", benchmark.name);
    } else {
      all_measured = run(benchmark, arguments.json) && all_measured;
    }
  }
  return all_measured ? 0 : 1;
}

}  // namespace
}  // namespace trainwarden::bench

int main(int argc, char** argv) {
  trainwarden::bench::Arguments arguments;
  for (const std::string_view argument : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    if (argument == "--json") {
      arguments.json = true;
    } else if (argument == "--list") {
      arguments.list = true;
    } else if (argument.starts_with("-")) {
      fmt::print(argument == "--help" ? stdout : stderr, "{}", trainwarden::bench::kUsage);
      return argument == "--help" ? 0 : 2;
    } else {
      arguments.name_prefixes.emplace_back(argument);
    }
  }
  try {
    return trainwarden::bench::run_selected(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
