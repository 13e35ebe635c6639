#include "store/journal/loss_list.h"

#include <utility>

#include <fmt/format.h>

namespace trainwarden::journal {

void LossList::add_damage(std::string_view path, std::uint64_t offset, std::string_view cause, std::uint64_t count,
                          std::uint64_t bytes) {
  RunLoss loss;
  loss.where = fmt::format("{} at byte {}", path, offset);
  loss.cause = cause;
  loss.count = count;
  loss.bytes = bytes;
  if (losses_.size() >= kMostListed) {
    RunLoss& further = this->further();
    further.count += count;
    further.bytes += bytes;
  } else if (index_by_key_.emplace(fmt::format("{}\n{}", cause, loss.where), losses_.size()).second) {
    losses_.push_back(std::move(loss));
  }
}

RunLoss& LossList::further() {
  if (losses_.size() == kMostListed) losses_.push_back({"after those listed", "further damage", 0, 0, false});
  return losses_.back();
}

void LossList::add_unkept(std::string_view journal, std::int64_t step, const format::LossRow& row) {
  if (losses_.size() >= kMostListed && !index_by_key_.contains("unkept\n" + row.cause)) {
    RunLoss& further = this->further();
    further.count += row.count;
    further.bytes += row.bytes;
    return;
  }
  const auto [known, is_new] = index_by_key_.emplace("unkept\n" + row.cause, losses_.size());
  if (is_new) {
    losses_.emplace_back();
    losses_.back().where = fmt::format("{}, first at step {}", journal, step);
    losses_.back().cause = row.cause;
    losses_.back().by_writer = true;
  }
  RunLoss& loss = losses_[known->second];
  loss.count += row.count;
  loss.bytes += row.bytes;
}

}  // namespace trainwarden::journal
