// LossList: what is missing from a journal, each loss once however often it is met.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/format/step_end.h"
#include "trainwarden/run_loss.h"

namespace trainwarden::journal {

class LossList {
 public:
  static constexpr std::size_t kMostListed = 10'000;  // what comes later is one loss in all

  // Damage at one place of a file. A second report of the same cause at the same place is dropped.
  void add_damage(std::string_view path, std::uint64_t offset, std::string_view cause, std::uint64_t count,
                  std::uint64_t bytes);
  // What the writer did not keep. All of one cause are one loss, which says where it first was.
  void add_unkept(std::string_view journal, std::int64_t step, const format::LossRow& row);

  std::span<const RunLoss> all() const { return losses_; }

 private:
  RunLoss& further();

  std::vector<RunLoss> losses_;
  std::unordered_map<std::string, std::size_t> index_by_key_;
};

}  // namespace trainwarden::journal
