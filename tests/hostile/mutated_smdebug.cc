// Folders of smdebug's, damaged and sealed again.
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <test_paths.h>

#include "../../fuzz/sealed_frames.h"
#include "core/base/bytes.h"
#include "core/base/text.h"
#include "crafted_run.h"
#include "data/foreign/tf_record.h"
#include "data/format/json.h"
#include "families.h"
#include "mutation.h"
#include "read/trial/smdebug/smdebug_testing.h"
#include "trainwarden/transfer.h"
#include "trainwarden/trial.h"

namespace trainwarden::hostile {
namespace {

namespace fs = std::filesystem;
using format::OrderedJson;

struct RecordPlace {
  std::size_t payload = 0;
  std::size_t bytes = 0;
};

std::vector<RecordPlace> records_of(const std::string& events) {
  std::vector<RecordPlace> records;
  foreign::RecordWalk walk(as_bytes(events));
  for (auto payload = walk.next(); payload.ok() && *payload; payload = walk.next()) {
    records.push_back({static_cast<std::size_t>((*payload)->data() - as_bytes(events).data()), (*payload)->size()});
  }
  return records;
}

bool is_event_file(const fs::path& file) {
  return file.extension() == ".tfevents";
}

// "000000000003_worker_0.tfevents" is of step 3.
std::int64_t step_of(const fs::path& event_file) {
  const std::string name = event_file.filename().string();
  return parse_int(name.substr(0, name.find('_'))).value_or(-1);
}

void change_events(std::string& events, Mutated& mutated, Random& random) {
  const std::vector<RecordPlace> records = records_of(events);
  const RecordPlace record = records.at(random() % records.size());
  change_some(events, record.payload, record.payload + record.bytes, random);
  events = fuzz::seal_records(events);
  mutated.data_only = true;
  mutated.name += fmt::format(", the record at byte {}", record.payload);
}

void change_document(std::string& text, Random& random) {
  OrderedJson document = OrderedJson::parse(text, nullptr, false);
  if (document.is_discarded() || random() % 4 == 0) return change_some(text, 0, text.size(), random);
  change_one_value(document, random);
  text = document.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

// A file is gone, cut, or another one lies in its place.
void change_files(const fs::path& run, const fs::path& file, const std::vector<fs::path>& files, Random& random) {
  std::string bytes = read_text(run / file);
  switch (random() % 3) {
    case 0: fs::remove(run / file); return;
    case 1: bytes.resize(random() % (bytes.size() + 1)); break;
    default: bytes = read_text(run / files[random() % files.size()]);
  }
  write_text(run / file, bytes);
}

void export_golden(const char* name, const fs::path& out) {
  const auto trial = Trial::open(fs::path(TW_SOURCE_DIR) / "testdata/golden" / name);
  if (!trial.ok()) throw std::runtime_error(trial.status().to_string());
  ExportOptions options;
  options.format = ExportFormat::kSmdebug;
  options.out = out;
  const auto started = Export::start(**trial, options);
  if (!started.ok()) throw std::runtime_error(started.status().to_string());
  const Status polled = (*started)->poll();
  const auto report = (*started)->finish();
  if (!polled.ok() || !report.ok()) throw std::runtime_error("export: " + report.status().to_string());
}

}  // namespace

std::vector<fs::path> write_smdebug_goldens(const fs::path& folder) {
  std::vector<fs::path> goldens = {folder / "v1", folder / "v1-reductions", folder / "two-workers"};
  export_golden("v1", goldens[0]);
  export_golden("v1-reductions", goldens[1]);
  foreign::SmdebugCollection losses;
  losses.collection.name = "losses";
  losses.collection.tensor_names = {"loss"};
  SmdebugTestRun run(2, {losses});
  for (std::int64_t step = 0; step < 4; ++step) {
    for (const char* worker : {"worker_0", "worker_1"}) {
      run.add({.step = step,
               .worker = worker,
               .tensors = {{"loss", {1}}, {"weight", {1, 2, 3}}, {"smdebug/reductions/l2/weight", {3.7F}}},
               .mode = Mode::kTrain,
               .shapes = {{"weight", "original", {3}}}});
    }
  }
  run.end();
  run.copy_to(goldens[2]);
  return goldens;
}

Mutated write_mutated_smdebug(std::uint64_t seed, const fs::path& golden, const fs::path& run) {
  Random random(seed);
  fs::remove_all(run);
  fs::create_directories(run.parent_path());
  fs::copy(golden, run, fs::copy_options::recursive);
  const std::vector<fs::path> files = files_of(golden);
  const fs::path& file = files[random() % files.size()];
  Mutated mutated{fmt::format("seed {}: {}/{}", seed, golden.filename().string(), file.string())};
  mutated.golden = golden;
  if (random() % 8 == 0) {
    change_files(run, file, files, random);
    mutated.name += ", another or none";
    return mutated;
  }
  std::string bytes = read_text(run / file);
  if (is_event_file(file)) {
    mutated.steps.push_back(step_of(file));
    change_events(bytes, mutated, random);
  } else {
    change_document(bytes, random);
  }
  write_text(run / file, bytes);
  return mutated;
}

}  // namespace trainwarden::hostile
