#include "read/retention/segment_survey.h"

#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/read_budget.h"
#include "data/format/records.h"
#include "data/format/safetensors.h"
#include "store/journal/journal_segment.h"
#include "store/journal/segment_decoder.h"
#include "store/journal/segment_file.h"

namespace trainwarden::retention {
namespace {

using format::FrameHeader;
using format::FrameKind;

class SurveySink final : public journal::FrameSink {
 public:
  explicit SurveySink(SegmentSurvey& survey) : survey_(survey) {}

  void on_frame(const FrameHeader& header, ByteSpan payload) override;
  void on_damage(const journal::Damage& damage) override {
    if (survey_.damage.empty()) survey_.damage = fmt::format("{} at byte {}", damage.cause, damage.offset);
  }
  bool in_step() const { return in_step_; }

 private:
  SegmentSurvey& survey_;
  bool in_step_ = false;
};

void SurveySink::on_frame(const FrameHeader& header, ByteSpan payload) {
  if (header.kind == FrameKind::kTrailer) survey_.sealed = true;
  if (header.kind == FrameKind::kTrailer || header.kind == FrameKind::kIndex) return;
  survey_.frames.push_back(header);
  if (journal::is_data(header.kind)) in_step_ = true;
  if (header.kind != FrameKind::kStepEnd) return;
  in_step_ = false;
  SurveyedStep step;
  step.step = header.step;
  const auto record = format::decode_step_end(as_text(payload));
  if (!record.ok()) {
    on_damage({header.file_offset, 0, 1, "undecodable end of a step"});
    return;
  }
  for (const format::LossRow& loss : record->losses) step.thinned = step.thinned || loss.cause == format::kThinnedCause;
  survey_.steps.push_back(step);
}

class Surveyor {
 public:
  Surveyor(const storage::Storage& run, const journal::RunInfo& info, const std::string& writer, std::uint64_t number,
           const CitedTensors& cited)
      : file_(run, budget_, open_files_, segment_path(writer, number)),
        owner_{journal::run_salt(info), journal::writer_id_of(writer)},
        cited_(cited) {
    survey_.number = number;
  }

  Result<SegmentSurvey> survey() &&;

 private:
  Status read_bundle(const FrameHeader& header, SurveyedStep& step);

  ReadBudget budget_;
  journal::OpenFiles open_files_;
  journal::SegmentFile file_;
  const journal::FrameOwner owner_;
  const CitedTensors& cited_;
  SegmentSurvey survey_;
};

Result<SegmentSurvey> Surveyor::survey() && {
  SurveySink sink(survey_);
  journal::SegmentDecoder decoder(owner_, sink);
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t file_bytes, file_.bytes());
  TRAINWARDEN_RETURN_IF_ERROR(journal::walk(file_, decoder, budget_, file_bytes));
  decoder.finish(file_bytes);
  if (sink.in_step()) sink.on_damage({file_bytes, 0, 1, "data of a step without its end"});
  std::map<std::int64_t, std::vector<SurveyedStep*>> steps;
  for (SurveyedStep& step : survey_.steps) steps[step.step].push_back(&step);
  for (const FrameHeader& header : survey_.frames) {
    if (header.kind != FrameKind::kBundle || !survey_.damage.empty()) continue;
    const auto found = steps.find(header.step);
    if (found == steps.end() || found->second.size() != 1) {
      survey_.damage = fmt::format("step {} is there several times, or never ended", header.step);
      continue;
    }
    const Status status = read_bundle(header, *found->second.front());
    if (!status.ok() && !journal::is_damage(status)) return status;
    if (!status.ok()) survey_.damage = status.message();
  }
  return std::move(survey_);
}

Status Surveyor::read_bundle(const FrameHeader& header, SurveyedStep& step) {
  constexpr std::uint64_t kLengthFieldBytes = 8;
  step.has_whole = true;
  const std::uint64_t payload = header.file_offset + format::kFrameHeaderBytes;
  if (header.payload_bytes < kLengthFieldBytes) return Status(Code::kDataLoss, "values without their header");
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan length, file_.read({payload, kLengthFieldBytes}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t head_bytes,
                               format::safetensors_header_bytes(length, header.payload_bytes));
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan head, file_.read({payload, head_bytes}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto entries, format::decode_bundle(head, header.payload_bytes));
  for (const format::BundleEntry& entry : entries) {
    const std::uint64_t bytes = entry.end - entry.begin;
    if (!may_be_thinned(entry.dtype, bytes, step.step, entry.name, cited_)) continue;
    ++step.tensors;
    step.bytes += bytes;
  }
  return Status();
}

}  // namespace

bool may_be_thinned(DType dtype, std::uint64_t bytes, std::int64_t step, const std::string& tensor,
                    const CitedTensors& cited) {
  return dtype != DType::kString && bytes >= kLeastThinnedBytes && !cited.has(step, tensor);
}

std::string segment_path(const std::string& writer, std::uint64_t number) {
  return journal::journal_folder(writer) + "/" + journal::segment_file(number);
}

Result<SegmentSurvey> survey_segment(const storage::Storage& run, const journal::RunInfo& info,
                                     const std::string& writer, std::uint64_t number, const CitedTensors& cited) {
  return Surveyor(run, info, writer, number, cited).survey();
}

}  // namespace trainwarden::retention
