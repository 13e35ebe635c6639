// Signs of life in the store, and the verdict on who gives none.
#include "parallel/rank_watch.h"

#include <cstdlib>
#include <exception>
#include <vector>

namespace bert {
namespace {

constexpr const char* kVerdictKey = "bert/verdict";
constexpr int kSilentBeats = 8;  // a busy machine may keep a rank from its beats for seconds

std::vector<std::uint8_t> bytes(const std::string& text) {
  return {text.begin(), text.end()};
}
std::string text_of(const std::vector<std::uint8_t>& value) {
  return {value.begin(), value.end()};
}
std::string sign_key(int rank) {
  return "bert/sign/" + std::to_string(rank);
}
std::string knows_key(int rank) {
  return "bert/knows/" + std::to_string(rank);
}

Verdict parse_verdict(const std::string& text) {
  const std::size_t space = text.find(' ');
  return {std::atoi(text.c_str()), space == std::string::npos ? text : text.substr(space + 1)};
}

}  // namespace

RankWatch::RankWatch(c10::intrusive_ptr<c10d::Store> beats, c10::intrusive_ptr<c10d::Store> questions, int rank,
                     int size, std::chrono::milliseconds beat)
    : beats_store_(std::move(beats)), questions_(std::move(questions)), rank_(rank), size_(size), beat_(beat) {
  say();
  thread_ = std::thread([this] { run(); });
}

RankWatch::~RankWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void RankWatch::say() {
  beats_store_->set(sign_key(rank_), bytes(std::to_string(++beats_) + " " + std::to_string(joined_.load())));
}

void RankWatch::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, beat_, [this] { return stopping_; })) {
    lock.unlock();
    std::optional<Verdict> verdict;
    bool reachable = true;
    try {
      say();
      if (beats_store_->check({kVerdictKey})) verdict = parse_verdict(text_of(beats_store_->get(kVerdictKey)));
    } catch (const std::exception&) {
      reachable = false;  // rank 0 has gone: in order, or the collective that this rank waits in will fail too
    }
    lock.lock();
    if (verdict && !told_) told_ = verdict;
    if (!reachable) return;
  }
}

std::optional<Verdict> RankWatch::told() const {
  const std::lock_guard lock(mutex_);
  return told_;
}

RankWatch::Sign RankWatch::sign_of(int rank) {
  const std::string text = text_of(questions_->get(sign_key(rank)));
  char* end = nullptr;
  Sign sign;
  sign.beats = std::strtoll(text.c_str(), &end, 10);
  sign.joined = std::strtoll(end, nullptr, 10);
  return sign;
}

Verdict RankWatch::compare(const std::string& symptom) {
  std::vector<Sign> before, after;
  for (int rank = 0; rank < size_; ++rank) before.push_back(sign_of(rank));
  std::this_thread::sleep_for(kSilentBeats * beat_);
  if (const std::optional<Verdict> known = told()) return *known;
  for (int rank = 0; rank < size_; ++rank) after.push_back(sign_of(rank));
  int last = rank_;
  for (int rank = 0; rank < size_; ++rank) {
    const auto place = static_cast<std::size_t>(rank);
    if (rank != rank_ && after[place].beats == before[place].beats) {
      return {rank, "rank " + std::to_string(rank) +
                        " has died or was stopped: it gives no sign of life. Found by rank " + std::to_string(rank_) +
                        " (" + symptom + ")"};
    }
    if (after[place].joined < after[static_cast<std::size_t>(last)].joined) last = rank;
  }
  if (last != rank_) {
    return {last, "rank " + std::to_string(last) + " lives but does not join: it has begun " +
                      std::to_string(after[static_cast<std::size_t>(last)].joined) + " collectives, rank " +
                      std::to_string(rank_) + " " + std::to_string(after[static_cast<std::size_t>(rank_)].joined) +
                      " (" + symptom + ")"};
  }
  return {-1, "a collective failed and all ranks live: " + symptom};
}

Verdict RankWatch::agree(const Verdict& mine) {
  const std::string text = std::to_string(mine.rank) + " " + mine.text;
  const Verdict agreed = parse_verdict(text_of(questions_->compareSet(kVerdictKey, {}, bytes(text))));
  questions_->set(knows_key(rank_), bytes("1"));
  if (rank_ == 0) stay_until_all_know();
  return agreed;
}

void RankWatch::stay_until_all_know() {
  for (int waited = 0; waited < 2 * kSilentBeats; ++waited) {
    bool all = true;
    for (int rank = 0; rank < size_; ++rank) all = all && questions_->check({knows_key(rank)});
    if (all) return;
    std::this_thread::sleep_for(beat_);
  }
}

Verdict RankWatch::judge(const std::string& symptom) {
  std::optional<Verdict> verdict = told();
  try {
    return agree(verdict ? *verdict : compare(symptom));
  } catch (const std::exception& error) {
    if (!verdict) verdict = told();
    if (verdict) return *verdict;
    return {0, std::string("rank 0 has died: its store cannot be reached (") + symptom + "; " + error.what() + ")"};
  }
}

}  // namespace bert
