// A search, line by line: on a test function, for regret.py, or on what another program evaluates, for tables.py.
//
//   search_tool SAMPLER FUNCTION SEED EVALUATIONS [SHIFT_SEED]   a line for each evaluation: its number, the smallest
//                                                                regret so far, the seconds that its suggestion took
//   search_tool --values FUNCTION SHIFT_SEED                     of points read from the standard input, one a line:
//                                                                value and regret
//   search_tool --ask                                            search_dialogue.h
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "search_dialogue.h"
#include "test_functions.h"
#include "tune/search/samplers/all.h"

namespace trainwarden::bench {
namespace {

using namespace trainwarden::tune;

constexpr const char* kUsage =
    "usage: search_tool SAMPLER FUNCTION SEED EVALUATIONS [SHIFT_SEED]\n"
    "       search_tool --values FUNCTION SHIFT_SEED < POINTS\n"
    "       search_tool --ask < QUESTIONS\n";

int fail(const std::string& message) {
  std::cerr << message << "\n";
  return 1;
}

std::uint64_t number_of(const char* text) {
  return std::strtoull(text, nullptr, 10);
}

int print_values(const SearchedFunction& function) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream stream(line);
    std::vector<double> point;
    for (double each = 0; stream >> each;) point.push_back(each);
    if (point.size() != function.dimensions()) return fail("a point has another number of dimensions");
    std::cout << fmt::format("{} {}\n", function.value(point), function.regret(point));
  }
  return 0;
}

Result<History> history_for(const SearchedFunction& function, std::uint64_t seed) {
  std::vector<Hyperparameter> parameters;
  for (std::size_t i = 0; i < function.dimensions(); ++i) {
    parameters.push_back({.name = fmt::format("x{}", i), .min = function.low(i), .max = function.high(i)});
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(Space space, Space::make(std::move(parameters)));
  return History{.space = std::move(space), .metrics = {{.name = "value"}}, .seed = seed};
}

int search(TrialSampler& sampler, const SearchedFunction& function, History history, std::int64_t evaluations) {
  double best = std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < evaluations; ++i) {
    const auto start = std::chrono::steady_clock::now();
    auto suggestion = sampler.suggest(history, i);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (!suggestion.ok()) return fail(suggestion.status().to_string());
    best = std::min(best, function.regret(suggestion->point));
    std::cout << fmt::format("{} {} {}\n", i + 1, best, seconds.count());
    StudyTrial trial{.number = i, .state = TrialState::kComplete, .values = {function.value(suggestion->point)}};
    trial.point = std::move(suggestion->point);
    trial.notes = std::move(suggestion->notes);
    history.trials.push_back(std::move(trial));
  }
  return 0;
}

int run(int count, char** arguments) {
  if (count == 2 && std::string_view(arguments[1]) == "--ask") {
    const Status ended = run_dialogue(std::cin, std::cout);
    return ended.ok() ? 0 : fail(ended.to_string());
  }
  const bool wants_values = count == 4 && std::string_view(arguments[1]) == "--values";
  if (!wants_values && count != 5 && count != 6) return fail(kUsage);
  std::optional<std::uint64_t> shift;
  if (wants_values) shift = number_of(arguments[3]);
  if (count == 6) shift = number_of(arguments[5]);
  const auto function = SearchedFunction::make(arguments[2], shift);
  if (!function) return fail(fmt::format("there is no function {}", arguments[2]));
  if (wants_values) return print_values(*function);
  auto sampler = make_sampler(arguments[1]);
  if (!sampler.ok()) return fail(sampler.status().message());
  auto history = history_for(*function, number_of(arguments[3]));
  if (!history.ok()) return fail(history.status().message());
  return search(**sampler, *function, *std::move(history), static_cast<std::int64_t>(number_of(arguments[4])));
}

}  // namespace
}  // namespace trainwarden::bench

int main(int count, char** arguments) {
  return trainwarden::bench::run(count, arguments);
}
