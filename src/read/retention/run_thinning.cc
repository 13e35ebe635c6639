#include "read/retention/run_thinning.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "read/retention/run_locks.h"
#include "store/journal/journal_segment.h"

namespace trainwarden::retention {
namespace {

using OnSegment = std::function<Status(const std::string& writer, const SegmentSurvey& survey)>;

Status visit_segments(const storage::Storage& run, const journal::RunInfo& info, const CitedTensors& cited,
                      const OnSegment& visit) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto writers, journal::list_journals(run));
  for (const std::string& writer : writers) {
    if (!writer.starts_with("rank-")) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto numbers, journal::list_segments(run, writer));
    for (const std::uint64_t number : numbers) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const SegmentSurvey survey, survey_segment(run, info, writer, number, cited));
      TRAINWARDEN_RETURN_IF_ERROR(visit(writer, survey));
    }
  }
  return Status();
}

bool is_reducible(const SurveyedStep& step, const ThinningPlan& plan) {
  return step.tensors > 0 && plan.thinned_steps.contains(step.step);
}

// Copies that were interrupted.
Status remove_copies(const storage::Storage& run, storage::FolderEdits& changes) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto writers, journal::list_journals(run));
  for (const std::string& writer : writers) {
    const std::string folder = journal::journal_folder(writer);
    for (const std::string& file : run.list(folder).value_or({})) {
      if (is_unfinished_copy(file)) TRAINWARDEN_RETURN_IF_ERROR(changes.remove_file(folder + "/" + file));
    }
  }
  return Status();
}

}  // namespace

Result<ThinningPlan> plan_thinning(const storage::Storage& run, const journal::RunInfo& info, std::uint64_t every) {
  ThinningPlan plan;
  plan.every = every;
  TRAINWARDEN_ASSIGN_OR_RETURN(const CitedTensors cited, cited_tensors(run, info));
  struct Sum {
    std::uint64_t tensors = 0;
    std::uint64_t bytes = 0;
  };
  std::map<std::int64_t, Sum> steps;
  TRAINWARDEN_RETURN_IF_ERROR(visit_segments(run, info, cited, [&](const auto& writer, const SegmentSurvey& survey) {
    if (!survey.damage.empty()) {
      plan.left_out.push_back(fmt::format("{}: {}", segment_path(writer, survey.number), survey.damage));
    }
    for (const SurveyedStep& step : survey.steps) {
      if (!step.has_whole && !step.thinned) continue;
      Sum& sum = steps[step.step];
      if (!survey.damage.empty()) continue;
      sum.tensors += step.tensors;
      sum.bytes += step.bytes;
    }
    return Status();
  }));
  std::uint64_t number = 0;
  for (const auto& [step, sum] : steps) {
    const bool stays = number % every == 0 || number + 1 == steps.size();
    ++number;
    if (stays) {
      ++plan.whole_steps;
      continue;
    }
    plan.thinned_steps.insert(step);
    plan.tensors += sum.tensors;
    plan.bytes += sum.bytes;
    if (sum.tensors > 0) ++plan.steps;
  }
  return plan;
}

Result<ThinnedSegment> thin_run(storage::Storage& run, storage::FolderEdits& changes, const journal::RunInfo& info,
                                const ThinningPlan& plan, const Clock& clock) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunLocks locks, lock_run(run, clock));
  TRAINWARDEN_RETURN_IF_ERROR(journal::check_same_run(run, info));
  TRAINWARDEN_RETURN_IF_ERROR(remove_copies(run, changes));
  TRAINWARDEN_ASSIGN_OR_RETURN(const CitedTensors cited, cited_tensors(run, info));
  ThinnedSegment all;
  TRAINWARDEN_RETURN_IF_ERROR(
      visit_segments(run, info, cited, [&](const std::string& writer, const SegmentSurvey& survey) -> Status {
        const bool has_any = std::any_of(survey.steps.begin(), survey.steps.end(),
                                         [&](const SurveyedStep& step) { return is_reducible(step, plan); });
        if (!survey.damage.empty() || !has_any) return Status();
        const StepChoice is_thinned = [&](std::int64_t step) { return plan.thinned_steps.contains(step); };
        const auto one = thin_segment(run, changes, info, writer, survey, is_thinned, cited);
        if (!one.ok() && !journal::is_damage(one.status())) return one.status();
        if (one.ok()) {
          all.steps += one->steps;
          all.tensors += one->tensors;
          all.bytes_before += one->bytes_before;
          all.bytes_after += one->bytes_after;
        } else {
          all.left_out.push_back(one.status().message());
        }
        return Status();
      }));
  return all;
}

}  // namespace trainwarden::retention
