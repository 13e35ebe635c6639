#include "ui/views/shelf.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "read/trial/run_listing.h"
#include "read/trial/trial_access.h"
#include "ui/views/black_boxes.h"

namespace trainwarden::views {
namespace {

// FNV-1a of 64 bits. Source: draft-eastlake-fnv.
std::string digits_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return fmt::format("{:016x}", hash);
}

// Looked for in the folders themselves, so that no text of whoever asks becomes a path.
std::optional<RunOnShelf> find_black_box(const std::vector<RunOnShelf>& runs, std::string_view id) {
  for (const RunOnShelf& run : runs) {
    for (const std::string& path : list_black_boxes(run.location)) {
      const std::string name = black_box_run_name(run.name, path);
      if (run_id_of(name) == id) return RunOnShelf{std::string(id), name, run.location.beneath(path)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::string run_id_of(std::string_view run_name) {
  return digits_of(run_name);
}
std::string tensor_id_of(std::string_view tensor_name) {
  return digits_of(tensor_name);
}

OpenRun::OpenRun(std::string name, std::unique_ptr<Trial> trial)
    : name_(std::move(name)), location_(TrialAccess::location(*trial)), trial_(std::move(trial)) {
  identity_ = TrialAccess::identity(*trial_);
  seen_step_ = trial_->last_complete_step();
  seen_unix_ns_ = trial_->last_unix_ns();
  seen_state_ = trial_->state();
  seen_samples_ = TrialAccess::count_sampled(*trial_);
}

Status OpenRun::refresh() {
  refreshed_ns_ = system_clock().steady_ns();
  const Status refreshed = trial_->refresh();
  const bool news = trial_->last_complete_step() != seen_step_ || trial_->last_unix_ns() != seen_unix_ns_ ||
                    trial_->state() != seen_state_ || TrialAccess::count_sampled(*trial_) != seen_samples_;
  if (!news) return refreshed;
  ++version_;
  seen_step_ = trial_->last_complete_step();
  seen_unix_ns_ = trial_->last_unix_ns();
  seen_state_ = trial_->state();
  seen_samples_ = TrialAccess::count_sampled(*trial_);
  return refreshed;
}

Result<OpenRun::Use> OpenRun::use(std::chrono::milliseconds at_most_every) {
  Use use(*this);
  const std::int64_t age_ns = system_clock().steady_ns() - refreshed_ns_;
  if (age_ns >= std::chrono::nanoseconds(at_most_every).count()) {
    const Status refreshed = refresh();
    if (!refreshed.ok()) return refreshed;
  }
  return use;
}

Result<std::string> OpenRun::Use::tensor_name(std::string_view id) const {
  auto found = run_->tensor_names_.find(id);
  if (found == run_->tensor_names_.end()) {
    const auto names = run_->trial_->tensor_names();
    if (!names.ok()) return names.status();
    if (names->size() != run_->named_tensors_) {
      for (const std::string& name : *names) run_->tensor_names_.emplace(tensor_id_of(name), name);
      run_->named_tensors_ = names->size();
      found = run_->tensor_names_.find(id);
    }
  }
  if (found != run_->tensor_names_.end()) return found->second;
  return Status(Code::kNotFound, fmt::format("run \"{}\" has no tensor of id \"{}\"; its list of tensors has the ids",
                                             printable(run_->name_), printable(id)));
}

Result<std::unique_ptr<Shelf>> Shelf::open(const storage::Location& place, std::size_t most_open) {
  const bool one = trial::is_run(place);
  if (!one) {
    const auto names = trial::list_runs(place);
    if (!names.ok()) return names.status();
  }
  return std::unique_ptr<Shelf>(new Shelf(place.absolute(), one, most_open));
}

Shelf::Shelf(storage::Location place, bool is_run, std::size_t most_open)
    : place_(std::move(place)), is_run_(is_run), most_open_(std::max<std::size_t>(most_open, 1)) {}

Result<std::vector<RunOnShelf>> Shelf::list() const {
  if (is_run_) {
    const std::string name = place_.name();
    return std::vector<RunOnShelf>{{run_id_of(name), name, place_}};
  }
  const auto names = trial::list_runs(place_);
  if (!names.ok()) return names.status();
  std::vector<RunOnShelf> runs;
  for (const std::string& name : *names) runs.push_back({run_id_of(name), name, place_.child(name)});
  return runs;
}

Result<RunOnShelf> Shelf::find(std::string_view id) const {
  const auto runs = list();
  if (!runs.ok()) return runs.status();
  for (const RunOnShelf& run : *runs) {
    if (run.id == id) return run;
  }
  if (auto box = find_black_box(*runs, id)) return *std::move(box);
  return Status(Code::kNotFound, fmt::format("there is no run of id \"{}\" in {}; the list of runs has the ids",
                                             printable(id), place_.address()));
}

Result<Shelf::Kept> Shelf::open_run(const RunOnShelf& run) const {
  const RunMark mark = mark_of(run.location);  // first: what changes meanwhile is noticed at the next look
  TRAINWARDEN_ASSIGN_OR_RETURN(auto trial, TrialAccess::open(run.location));
  Kept kept;
  kept.run = std::make_shared<OpenRun>(run.name, std::move(trial));
  kept.mark = mark;
  return kept;
}

// As it lies there now.
Shelf::KeptRuns::iterator Shelf::find_kept(std::string_view id) {
  const auto kept = kept_.find(id);
  if (kept == kept_.end() || kept->second.mark == mark_of(kept->second.run->location())) return kept;
  kept_.erase(kept);  // it is gone, or another one by now; who uses it keeps it
  return kept_.end();
}

// Other runs are served while one is opened.
Result<Shelf::Kept*> Shelf::kept_run(std::string_view id, const RunOnShelf* listed,
                                     std::unique_lock<std::mutex>& lock) {
  opened_.wait(lock, [&] { return !opening_.contains(id); });
  if (const auto kept = find_kept(id); kept != kept_.end()) return &kept->second;
  const auto opening = opening_.emplace(id).first;
  lock.unlock();
  const Result<RunOnShelf> place = listed != nullptr ? Result<RunOnShelf>(*listed) : find(id);
  Result<Kept> opened = place.ok() ? open_run(*place) : Result<Kept>(place.status());
  lock.lock();
  opening_.erase(opening);
  opened_.notify_all();
  if (!opened.ok()) return opened.status();
  if (kept_.size() >= most_open_) close_oldest();
  return &kept_.emplace(id, *std::move(opened)).first->second;
}

Result<std::shared_ptr<OpenRun>> Shelf::run(std::string_view id) {
  std::unique_lock lock(mutex_);
  TRAINWARDEN_ASSIGN_OR_RETURN(Kept* const kept, kept_run(id, nullptr, lock));
  kept->looked_at = ++looks_;
  kept->listed_only = false;
  return kept->run;
}

Result<std::shared_ptr<OpenRun>> Shelf::listed_run(const RunOnShelf& listed) {
  std::unique_lock lock(mutex_);
  TRAINWARDEN_ASSIGN_OR_RETURN(Kept* const kept, kept_run(listed.id, &listed, lock));
  return kept->run;
}

void Shelf::close_listed(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto kept = kept_.find(id);
  if (kept != kept_.end() && kept->second.listed_only) kept_.erase(kept);
}

// Whoever uses it now keeps it until it is done.
void Shelf::close_oldest() {
  const auto oldest = std::min_element(
      kept_.begin(), kept_.end(), [](const auto& a, const auto& b) { return a.second.looked_at < b.second.looked_at; });
  kept_.erase(oldest);
}

}  // namespace trainwarden::views
