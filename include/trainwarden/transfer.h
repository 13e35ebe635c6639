// Transfer: a run's tensors in the formats of other programs, while it is written or after, and other programs' runs
// in ours.
//
//   auto exported = trainwarden::Export::start(*trial, {.format = ExportFormat::kTensorBoard, .out = "board"});
//   while (!(*exported)->run_ended()) {
//     TRAINWARDEN_RETURN_IF_ERROR((*exported)->poll());
//     ...  // sleep
//   }
//   auto report = (*exported)->finish();
//
// docs/reference/export.md has, for each format, what goes where and what it cannot hold.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/export.h"
#include "trainwarden/mode.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden {

enum class ExportFormat : std::uint8_t { kSmdebug, kTensorBoard, kSafetensors, kNpz, kCsv, kJson, kMcap, kParquet };
TRAINWARDEN_API std::string_view name(ExportFormat format);  // "smdebug", "tensorboard", "safetensors", ...
TRAINWARDEN_API std::optional<ExportFormat> parse_export_format(std::string_view text);

// The steps first, first + every, ... before `end`.
struct StepRange {
  std::int64_t first = 0;
  std::optional<std::int64_t> end = {};  // exclusive; none: no end
  std::int64_t every = 1;                // at least 1
  TRAINWARDEN_API bool holds(std::int64_t step) const;
  friend bool operator==(const StepRange&, const StepRange&) = default;
};
// "0:1000" (without 1000), "::10", "500:", "7", and lists of these: "0,10,100:200:5". kInvalidArgument for anything
// else.
TRAINWARDEN_API Result<std::vector<StepRange>> parse_step_ranges(std::string_view text);

// What of a run is exported; everything narrows.
struct ExportChoice {
  std::vector<std::string> include{};  // PCRE2, found anywhere in a tensor's name; several: any of them
  std::string collection{};            // members of this collection
  std::vector<Mode> modes{};           // empty: all
  // Any of these; empty: all. Steps of their mode when `modes` names some, else global steps.
  std::vector<StepRange> steps{};
  std::vector<std::string> workers{};  // empty: all
  friend bool operator==(const ExportChoice&, const ExportChoice&) = default;
};

struct ExportOptions {
  ExportFormat format = ExportFormat::kJson;
  std::filesystem::path out;  // a file for csv, json, mcap and parquet, a folder for the others
  ExportChoice choice{};
  // Write to `out` although it holds something: files of the same names are replaced, nothing is removed. Without it
  // only a folder is taken that is empty, or that holds an unfinished export of the same run: that goes on.
  bool force = false;
  // Without the texts of the training: elements that are texts (tokens, say), and in json the labels and the path.
  bool texts = true;
  bool record_crc = false;            // smdebug: true checksums, which TensorFlow reads and smdebug by default does not
  std::vector<std::string> images{};  // tensorboard: patterns of the tensors that are also shown as images
  std::stop_token stop{};             // stops after the current step
  std::function<void(std::int64_t global_step)> on_step{};  // after each step that was written
};

// Something that the format has no place for, or that it holds in another form.
struct ExportNote {
  std::string cause;        // "histograms", "bfloat16 as float32"
  bool lost = true;         // false: it is there in another form
  std::uint64_t count = 0;  // of tensors at steps, or of what the cause names
  std::string first;        // "conv0.weight at step 3": the first of them
};

struct ExportReport {
  std::uint64_t steps = 0;    // of all workers together
  std::uint64_t records = 0;  // tensors, statistics, scalars and reductions that were written
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t damaged = 0;  // records that could not be read; they are also among the notes
  bool run_ended = false;     // and all of it was exported
  std::vector<ExportNote> notes;
};

// One thread at a time.
class TRAINWARDEN_API Export {
 public:
  // `trial` must outlive it. kInvalidArgument for a bad pattern, kNotFound for an unknown worker, kAlreadyExists when
  // `out` is not empty, kPermissionDenied and kResourceExhausted from the file system.
  static Result<std::unique_ptr<Export>> start(Trial& trial, ExportOptions options);
  // Without finish() it is left unfinished: a file is not there, in a folder the whole steps are.
  ~Export();
  Export(const Export&) = delete;
  Export& operator=(const Export&) = delete;

  // Refreshes the trial and takes the complete steps that are new. kUnavailable passes; after another error call no
  // more.
  Status poll();
  bool run_ended() const;  // and every step was taken
  // Writes the end marks (that the run has ended only when it has) and gives the file its name. Once.
  Result<ExportReport> finish();

 private:
  class Impl;
  explicit Export(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct ImportReport {
  std::string run_id;                          // of the new run
  std::map<std::string, std::string> workers;  // the new name by the old one
  std::uint64_t steps = 0;                     // of all workers together
  std::uint64_t records = 0;
  std::uint64_t samples = 0;    // of machines, from a profiler's folder
  std::uint64_t calls = 0;      // of operators, from its timelines
  bool source_ended = false;    // false: the source was not at its end; what it held is there
  std::vector<RunLoss> losses;  // what of the source could not be read
};

// Turns what another program recorded in `from` into a run of ours in the folder `to`, which may not be there yet and
// appears whole: a folder of smdebug or of SageMaker's profiler, or a file with a trace of PyTorch's profiler (JSON,
// also compressed by gzip) or a timeline of Horovod's (JSON, also while it grows). kInvalidArgument when `from` is a
// run of ours.
// `origin` is what the run says of where it was imported from; empty: `from`.
TRAINWARDEN_API Result<ImportReport> import_run(const std::filesystem::path& from, const std::filesystem::path& to,
                                                const std::string& origin = "");

}  // namespace trainwarden
