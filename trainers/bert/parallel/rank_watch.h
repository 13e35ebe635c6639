// Who is lost: ranks say through the store that they live and how far they are, and judge each other by it.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace bert {

struct Verdict {
  int rank = -1;  // lost, or -1
  std::string text;
};

// joined() and told() are for any thread, judge() for one at a time.
class RankWatch {
 public:
  // Two connections to the same store, since one waits while the other is asked.
  RankWatch(c10::intrusive_ptr<c10d::Store> beats, c10::intrusive_ptr<c10d::Store> questions, int rank, int size,
            std::chrono::milliseconds beat);
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  void joined() { joined_.fetch_add(1); }  // this rank has begun one more collective

  // What another rank has found out, if any has.
  std::optional<Verdict> told() const;
  // Something failed: who is lost? Takes eight beats. Tells the others. Rank 0, which keeps the store, stays until they
  // know.
  Verdict judge(const std::string& symptom);

 private:
  struct Sign {
    std::int64_t beats = 0, joined = 0;
  };

  void run();
  void say();
  Sign sign_of(int rank);
  Verdict compare(const std::string& symptom);
  Verdict agree(const Verdict& mine);
  void stay_until_all_know();

  const c10::intrusive_ptr<c10d::Store> beats_store_, questions_;
  const int rank_, size_;
  const std::chrono::milliseconds beat_;
  std::atomic<std::int64_t> joined_{0};
  std::int64_t beats_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::optional<Verdict> told_;
  std::thread thread_;
};

}  // namespace bert
