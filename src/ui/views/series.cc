#include "ui/views/series.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/large_memory.h"
#include "core/base/text.h"
#include "read/trial/trial_access.h"

namespace trainwarden::views {
namespace {

using trial::SeriesNumber;
using trial::SeriesPart;
using trial::SeriesPoint;
using trial::WorkerJournal;

// Of one run; those not asked for longest are forgotten beyond that.
constexpr std::size_t kMostPoints = 32 << 20;

// All points of a series, and those of each mode that somebody has asked for.
class KeptSeries {
 public:
  std::size_t next = 0;
  std::uint64_t left = 0;
  std::uint64_t unreadable = 0;
  std::uint64_t asked = 0;

  std::size_t size() const {
    std::size_t points = all_.size();
    for (const auto& [mode, part] : parts_) points += part.pyramid.size();
    return points;
  }
  const SeriesPyramid& of(std::optional<Mode> mode) { return mode ? of_mode(*mode) : all_; }
  // That have points.
  const std::set<Mode>& modes() const { return seen_; }

  void take(const SeriesPart& part) {
    next = part.next;
    left = part.left;
    unreadable += part.unreadable;
    all_.make_room(part.points.size());
    make_room(modes_, part.points.size());
    for (std::size_t i = 0; i < part.points.size(); ++i) {
      const SeriesPoint& point = part.points[i];
      if (all_.size() > 0 && point.global_step <= all_.step(all_.size() - 1)) return rebuild_with(part, i);
      append(point);
    }
  }

 private:
  struct Part {
    SeriesPyramid pyramid;
    std::size_t looked_at = 0;  // of all points
  };

  void append(const SeriesPoint& point) {
    all_.append(point.global_step, point.unix_ns, point.value);
    modes_.push_back(point.mode);
    if (point.mode != last_mode_) seen_.insert(point.mode);
    last_mode_ = point.mode;
  }

  const SeriesPyramid& of_mode(Mode mode) {
    if (seen_.size() == 1 && seen_.contains(mode)) return all_;
    Part& part = parts_[mode];
    for (std::size_t& i = part.looked_at; i < all_.size(); ++i) {
      if (modes_[i] == mode) part.pyramid.append(all_.step(i), all_.unix_ns(i), all_.value(i));
    }
    return part.pyramid;
  }

  // A training that went on from an earlier step has written some steps again: the later record holds.
  void rebuild_with(const SeriesPart& part, std::size_t first) {
    std::map<std::int64_t, SeriesPoint> by_step;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      by_step[all_.step(i)] = {all_.step(i), all_.unix_ns(i), modes_[i], all_.value(i)};
    }
    for (std::size_t i = first; i < part.points.size(); ++i) by_step[part.points[i].global_step] = part.points[i];
    all_ = {};
    modes_.clear();
    seen_.clear();
    last_mode_.reset();
    parts_.clear();
    for (const auto& [step, point] : by_step) append(point);
  }

  SeriesPyramid all_;
  std::vector<Mode, LargeAllocator<Mode>> modes_;  // of each point
  std::set<Mode> seen_;
  std::optional<Mode> last_mode_;
  std::map<Mode, Part> parts_;
};

struct SeriesMemory {
  using Key = std::tuple<std::string, std::string, SeriesNumber>;  // tensor, worker, number
  std::map<Key, KeptSeries> kept;
  std::uint64_t asked = 0;

  void forget_oldest(const Key& but) {
    std::size_t points = 0;
    for (const auto& [key, series] : kept) points += series.size();
    while (points > kMostPoints && kept.size() > 1) {
      auto oldest = kept.end();
      for (auto it = kept.begin(); it != kept.end(); ++it) {
        if (it->first != but && (oldest == kept.end() || it->second.asked < oldest->second.asked)) oldest = it;
      }
      points -= oldest->second.size();
      kept.erase(oldest);
    }
  }
};

struct Place {
  WorkerJournal* journal = nullptr;
  std::uint32_t tensor = 0;
};

Result<Place> find_place(Trial& trial, const SeriesQuestion& question) {
  const trial::CatalogTensor* tensor = TrialAccess::catalog(trial).find(question.tensor);
  if (tensor == nullptr) {
    return Status(Code::kNotFound, fmt::format("there is no tensor \"{}\"", printable(question.tensor)));
  }
  for (WorkerJournal* journal : TrialAccess::journals(trial)) {
    if (!journal->readable() || (!question.worker.empty() && journal->name() != question.worker)) continue;
    if (const auto index = journal->tensor(*tensor)) return Place{journal, *index};
  }
  return Status(Code::kNotFound, fmt::format("worker \"{}\" does not know the tensor \"{}\"",
                                             printable(question.worker), printable(question.tensor)));
}

// The first step that holds the tensor in this form.
const trial::Posting* first_with(const Place& place, journal::RecordForm form) {
  const auto postings = place.journal->tensor_index().of(place.tensor);
  const auto found = std::find_if(postings.begin(), postings.end(), [&](const auto& each) { return each.has(form); });
  return found == postings.end() ? nullptr : &*found;
}

Result<journal::Record> record_at(const Place& place, const trial::Posting& posting, journal::RecordForm form) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto records, place.journal->reader().records(posting.step_index));
  for (const journal::Record& record : records) {
    if (record.tensor == place.tensor && record.form == form) return record;
  }
  return Status(Code::kInternal, "the index names a record that is not there");
}

// Not by the first step alone: rules may have statistics kept at steps before and between.
Result<SeriesNumber> guess_number(const Place& place) {
  using journal::RecordForm;
  constexpr SeriesNumber kMean{SeriesNumber::Kind::kReduction, Reduction::kMean, false};
  journal::JournalReader& reader = place.journal->reader();
  if (place.journal->tensor_index().of(place.tensor).empty()) return SeriesNumber{};
  if (first_with(place, RecordForm::kScalar) != nullptr) return SeriesNumber{};
  if (const trial::Posting* posting = first_with(place, RecordForm::kReductions)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto record, record_at(place, *posting, RecordForm::kReductions));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto saved, reader.read_reductions(record));
    return saved.empty() ? kMean : SeriesNumber{SeriesNumber::Kind::kReduction, saved[0].reduction, saved[0].abs};
  }
  if (const trial::Posting* posting = first_with(place, RecordForm::kValue)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto record, record_at(place, *posting, RecordForm::kValue));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto type_and_shape, reader.read_shape(record));
    if (type_and_shape.second.element_count() == 1) return SeriesNumber{};
  }
  return kMean;
}

struct ReadSeries {
  Series series;  // without points
  KeptSeries* kept = nullptr;
  SeriesMemory::Key key;
};

// What is new of it is read into `memory`.
Result<ReadSeries> read_more(const OpenRun::Use& run, const SeriesQuestion& question, std::chrono::nanoseconds patience,
                             SeriesMemory& memory) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Place place, find_place(run.trial(), question));
  ReadSeries read;
  Series& series = read.series;
  series.name = question.tensor;
  series.worker = place.journal->name();
  if (question.number) {
    series.number = *question.number;
  } else {
    TRAINWARDEN_ASSIGN_OR_RETURN(series.number, guess_number(place));
  }
  read.key = {question.tensor, series.worker, series.number};
  KeptSeries& kept = memory.kept[read.key];
  read.kept = &kept;
  kept.asked = ++memory.asked;
  TRAINWARDEN_ASSIGN_OR_RETURN(const SeriesPart part,
                               trial::read_series(*place.journal, place.tensor, series.number, kept.next,
                                                  run.trial().last_complete_step(), patience));
  kept.take(part);
  series.left = kept.left;
  series.unreadable = kept.unreadable;
  return read;
}

}  // namespace

void cut_series(const SeriesPyramid& pyramid, const SeriesQuestion& question, Series& series) {
  series.all = pyramid.summary(0, pyramid.size());
  if (pyramid.size() > 0) {
    series.first_step = pyramid.step(0);
    series.last_step = pyramid.step(pyramid.size() - 1);
    series.newest = pyramid.value(pyramid.size() - 1);
  }
  const std::size_t begin = pyramid.at_or_after(question.from);
  const bool to_the_end = question.to == std::numeric_limits<std::int64_t>::max();
  const std::size_t end = to_the_end ? pyramid.size() : pyramid.at_or_after(question.to + 1);
  if (begin >= end) return;
  if (end - begin > 4 * question.buckets) {
    series.buckets = pyramid.buckets(begin, end, question.buckets);
    return;
  }
  for (std::size_t i = begin; i < end; ++i) {
    series.points.push_back({pyramid.step(i), pyramid.unix_ns(i), pyramid.value(i)});
  }
}

Result<Series> read_series(const OpenRun::Use& run, const SeriesQuestion& question, std::chrono::nanoseconds patience) {
  auto& memory = run.memory<SeriesMemory>();
  TRAINWARDEN_ASSIGN_OR_RETURN(ReadSeries read, read_more(run, question, patience, memory));
  read.series.mode = question.mode;
  cut_series(read.kept->of(question.mode), question, read.series);
  memory.forget_oldest(read.key);
  return std::move(read.series);
}

Result<std::vector<Series>> read_series_by_mode(const OpenRun::Use& run, const SeriesQuestion& question,
                                                std::chrono::nanoseconds patience) {
  auto& memory = run.memory<SeriesMemory>();
  TRAINWARDEN_ASSIGN_OR_RETURN(const ReadSeries read, read_more(run, question, patience, memory));
  std::vector<Series> series;
  for (const Mode mode : read.kept->modes()) {
    series.push_back(read.series);
    series.back().mode = mode;
    cut_series(read.kept->of(mode), question, series.back());
  }
  if (series.empty()) series.push_back(read.series);
  memory.forget_oldest(read.key);
  return series;
}

}  // namespace trainwarden::views
