#include "read/retention/cited_tensors.h"

#include "data/format/frame.h"
#include "data/format/json.h"
#include "data/format/name_escape.h"
#include "data/format/parse_json.h"
#include "store/journal/journal_reader.h"

namespace trainwarden::retention {
namespace {

using format::Json;

void cite(const Json& evidence, std::int64_t verdict_step, CitedTensors& cited, bool& names_any) {
  if (!evidence.is_object()) return;
  const auto tensor = format::name_field(evidence, "tensor");
  if (!tensor.ok() || tensor->empty()) return;
  names_any = true;
  cited.by_step[verdict_step].insert(*tensor);
  if (const auto step = format::int_field(evidence, "step"); step.ok()) cited.by_step[*step].insert(*tensor);
}

// A text that is no verdict says nothing here; what it is, its readers find out.
void take_verdict(const std::string& text, CitedTensors& cited) {
  const auto json = format::parse_json_object(text, "verdict");
  if (!json.ok()) return;
  const auto type = format::string_field(*json, "type");
  const auto outcome = format::string_field(*json, "outcome");
  const auto step = format::int_field(*json, "step");
  if (!type.ok() || *type != "verdict" || !outcome.ok() || *outcome != "fired" || !step.ok()) return;
  bool names_any = false;
  if (const auto list = format::array_field(*json, "evidence"); list.ok()) {
    for (const Json& evidence : **list) cite(evidence, *step, cited, names_any);
  }
  if (!names_any && *step >= 0) cited.whole_steps.insert(*step);
}

}  // namespace

bool CitedTensors::has(std::int64_t step, const std::string& tensor) const {
  if (whole_steps.contains(step)) return true;
  const auto found = by_step.find(step);
  return found != by_step.end() && found->second.contains(tensor);
}

Result<CitedTensors> cited_tensors(const storage::Storage& run, const journal::RunInfo& info) {
  CitedTensors cited;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto writers, journal::list_journals(run));
  for (const std::string& writer : writers) {
    if (!writer.starts_with("watch-")) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto reader, journal::JournalReader::open(run, info, writer, {.live = false}));
    TRAINWARDEN_RETURN_IF_ERROR(reader->visit_events(0, [&](std::size_t, const journal::EventEntry& event) {
      if (event.kind == format::FrameKind::kVerdict) take_verdict(event.json, cited);
    }));
  }
  return cited;
}

}  // namespace trainwarden::retention
