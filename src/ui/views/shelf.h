// Shelf: the runs of a folder, open for many who look at them at once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <typeindex>
#include <vector>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"
#include "ui/views/run_mark.h"

namespace trainwarden::views {

// What names a run to those who look: 16 hexadecimal digits of its name, the same at each start.
std::string run_id_of(std::string_view run_name);
// The same of a tensor within its run. Two names with the same digits: the first by name has them.
std::string tensor_id_of(std::string_view tensor_name);

// One run. A trial serves one thread at a time, so all looking happens in a Use.
class OpenRun : public std::enable_shared_from_this<OpenRun> {
 public:
  OpenRun(std::string name, std::unique_ptr<Trial> trial);

  const std::string& name() const { return name_; }
  const storage::Location& location() const { return location_; }
  // Tells it from every other run, also from one that is made later under its name. Empty while smdebug's has no step.
  const std::string& identity() const { return identity_; }

  // Exclusive for as long as it lives. Keep it short: others wait.
  class Use {
   public:
    Trial& trial() const { return *run_->trial_; }
    const OpenRun& run() const { return *run_; }
    // Grows whenever a refresh brought something.
    std::uint64_t version() const { return run_->version_; }
    // kNotFound when no tensor has this id. The text lives as long as the run is open.
    Result<std::string> tensor_name(std::string_view id) const;
    // What a view remembers of this run (a cache), made with T() at first. One object a type.
    template <class T>
    T& memory() const {
      std::shared_ptr<void>& slot = run_->memories_[std::type_index(typeid(T))];
      if (!slot) slot = std::make_shared<T>();
      return *static_cast<T*>(slot.get());
    }

   private:
    friend class OpenRun;
    explicit Use(OpenRun& run) : kept_(run.weak_from_this().lock()), run_(&run), lock_(run.mutex_) {}
    std::shared_ptr<OpenRun> kept_;  // the shelf may close the run meanwhile
    OpenRun* run_;
    std::unique_lock<std::mutex> lock_;
  };

  // Takes in what was written since, unless that was done within the last `at_most_every`.
  Result<Use> use(std::chrono::milliseconds at_most_every = std::chrono::milliseconds(20));

 private:
  Status refresh();

  const std::string name_;
  const storage::Location location_;
  std::mutex mutex_;
  std::unique_ptr<Trial> trial_;
  std::uint64_t version_ = 1;
  std::int64_t refreshed_ns_ = 0;  // steady clock
  std::int64_t seen_step_ = -1;
  std::int64_t seen_unix_ns_ = 0;
  RunState seen_state_ = RunState::kRunning;
  std::size_t seen_samples_ = 0;
  std::map<std::string, std::string, std::less<>> tensor_names_;  // by id
  std::size_t named_tensors_ = 0;
  std::map<std::type_index, std::shared_ptr<void>> memories_;
  std::string identity_;
};

struct RunOnShelf {
  std::string id;
  std::string name;
  storage::Location location;
};

// May be used from any thread.
class Shelf {
 public:
  // `place` is a folder of runs, or one run. At most `most_open` runs are kept open; those not looked at for longest
  // are closed first. kNotFound.
  static Result<std::unique_ptr<Shelf>> open(const storage::Location& place, std::size_t most_open = 256);

  const storage::Location& place() const { return place_; }
  bool is_run() const { return is_run_; }  // the place is one run
  // The file that maps the attention of all runs here (views/attention); empty: each run's own. Set before others look.
  void set_attention_file(std::filesystem::path file) { attention_file_ = std::move(file); }
  const std::filesystem::path& attention_file() const { return attention_file_; }
  // Those that are there now, by name.
  Result<std::vector<RunOnShelf>> list() const;
  // The one that lies there now: of a run that was removed and made again under its name the new one.
  // Also what is no run of the list: a black box of one of them, which is called "RUN/blackbox/NAME". kNotFound when
  // none has this id; the errors of Trial::open.
  // Whoever asks for a run that another thread is opening waits for that one; other runs do not wait.
  Result<std::shared_ptr<OpenRun>> run(std::string_view id);
  // The same for the list of runs, which looks at each once and knows where it lies.
  Result<std::shared_ptr<OpenRun>> listed_run(const RunOnShelf& listed);
  // Closes the run, unless somebody else than the list has asked for it.
  void close_listed(std::string_view id);
  // What a view remembers of all runs, made with T(shelf) at first. One object a type, for as long as the shelf; T must
  // be safe for threads itself.
  template <class T>
  T& memory() {
    const std::lock_guard lock(memories_mutex_);
    std::shared_ptr<void>& slot = memories_[std::type_index(typeid(T))];
    if (!slot) slot = std::make_shared<T>(*this);
    return *static_cast<T*>(slot.get());
  }

 private:
  struct Kept {
    std::shared_ptr<OpenRun> run;
    RunMark mark = 0;
    std::uint64_t looked_at = 0;
    bool listed_only = true;  // nobody but the list has asked for it
  };
  using KeptRuns = std::map<std::string, Kept, std::less<>>;  // by id
  Shelf(storage::Location place, bool is_run, std::size_t most_open);
  Result<RunOnShelf> find(std::string_view id) const;
  Result<Kept*> kept_run(std::string_view id, const RunOnShelf* listed, std::unique_lock<std::mutex>& lock);
  Result<Kept> open_run(const RunOnShelf& run) const;
  KeptRuns::iterator find_kept(std::string_view id);
  void close_oldest();

  const storage::Location place_;
  const bool is_run_;
  const std::size_t most_open_;
  std::filesystem::path attention_file_;
  std::mutex mutex_;
  KeptRuns kept_;
  std::set<std::string, std::less<>> opening_;  // ids
  std::condition_variable opened_;
  std::uint64_t looks_ = 0;
  std::mutex memories_mutex_;
  std::map<std::type_index, std::shared_ptr<void>> memories_;
};

}  // namespace trainwarden::views
