#include "read/upkeep/many_tasks.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/base/no_throw.h"

namespace trainwarden::upkeep {
namespace {

class TaskRound {
 public:
  TaskRound(std::size_t count, const std::function<Status(std::size_t)>& task) : count_(count), task_(task) {}

  void work() {
    while (!failed_.load()) {
      const std::size_t index = next_.fetch_add(1);
      if (index >= count_) return;
      Status status = no_throw([&] { return task_(index); });
      if (!status.ok()) note(index, std::move(status));
    }
  }

  Status outcome() const { return failure_; }  // once all have ended

 private:
  void note(std::size_t index, Status status) {
    const std::lock_guard lock(mutex_);
    failed_.store(true);
    if (!failure_.ok() && failed_index_ < index) return;
    failed_index_ = index;
    failure_ = std::move(status);
  }

  const std::size_t count_;
  const std::function<Status(std::size_t)>& task_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::size_t failed_index_ = 0;
  Status failure_;
};

}  // namespace

int thread_count(int wanted) {
  const int processors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return std::clamp(wanted > 0 ? wanted : processors, 1, kMaxThreads);
}

Status for_each_task(std::size_t count, int threads, const std::function<Status(std::size_t)>& task) {
  TaskRound round(count, task);
  const auto helpers = std::min<std::size_t>(count, static_cast<std::size_t>(thread_count(threads)));
  std::vector<std::thread> started;
  for (std::size_t i = 1; i < helpers; ++i) {
    try {
      started.emplace_back([&round] { round.work(); });
    } catch (const std::system_error&) {
      break;  // those that there are do it
    }
  }
  round.work();
  for (std::thread& thread : started) thread.join();
  return round.outcome();
}

}  // namespace trainwarden::upkeep
