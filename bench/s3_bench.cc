// Runs in buckets: how many requests opening one takes, and how fast files travel, beside boto3. The server is a
// program of ours that keeps objects in memory; what it can do at most is measured with curl in the same run.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "data/format/run_event.h"
#include "line_program.h"
#include "store/journal/journal_writer.h"
#include "store/s3/bucket_mirror.h"
#include "store/s3/s3_storage.h"
#include "store/storage/local_storage.h"
#include "temporary_folder.h"
#include "typed_program.h"

namespace trainwarden::bench {
namespace {

namespace fs = std::filesystem;

void must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

template <class T>
T value_of(Result<T> result) {
  must(result.status());
  return std::move(*result);
}

void run_shell(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error(command);
}

// The server, and an environment that leads to it.
class BenchBucket {
 public:
  BenchBucket() : server_({TW_BUCKET_SERVER}) {
    address_ = "http://127.0.0.1:" + server_.read_line().substr(std::string("port ").size());
    ::setenv("AWS_ENDPOINT_URL", address_.c_str(), 1);
    ::setenv("AWS_ACCESS_KEY_ID", "bench", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "bench", 1);
    ::setenv("AWS_REGION", "us-east-1", 1);
    ::unsetenv("AWS_PROFILE");
  }
  const std::string& address() const { return address_; }

  std::uint64_t requests(const fs::path& scratch) const {
    run_shell(fmt::format("curl -sf {}/-/requests -o '{}'", address_, (scratch / "count").string()));
    std::ifstream file(scratch / "count");
    std::uint64_t count = 0;
    file >> count;
    return count;
  }

 private:
  LineProgram server_;
  std::string address_;
};

storage::BucketPlace reach(const std::string& address) {
  return value_of(storage::reach_bucket(address));
}

// --- store.s3_open_requests -----------------------------------------------------------------------------------------

constexpr int kMillionSteps = 10'000;
constexpr std::uint32_t kMillionTensors = 100;  // 20 rows of statistics, 80 scalars

journal::StepBatch step_of_100(std::int64_t step) {
  journal::StepBatch batch;
  batch.global_step = step;
  batch.mode = Mode::kTrain;
  batch.mode_step = step;
  for (std::uint32_t id = 0; id < kMillionTensors; ++id) {
    if (step == 0) batch.new_names.push_back({id, fmt::format("encoder.layer{}.attention.weight", id), {"weights"}});
    if (id < 20) {
      journal::StatisticsRow row;
      row.id = id;
      row.shape = {768, 768};
      row.statistics.count = 768 * 768;
      batch.statistics.push_back(std::move(row));
    } else {
      batch.scalars.push_back({id, static_cast<double>(step)});
    }
  }
  return batch;
}

void write_million(const fs::path& folder) {
  const auto storage = storage::open_local_storage(folder);
  journal::RunInfo info;
  info.id = "00112233445566778899aabbccddeeff";
  info.created_unix_ns = system_clock().unix_ns();
  must(journal::create_or_join_run(*storage, info).status());
  journal::JournalOptions options;
  options.writer = "rank-00000";
  const auto writer = value_of(journal::JournalWriter::open(*storage, system_clock(), info, options));
  for (int step = 0; step < kMillionSteps; ++step) must(writer->append_step(step_of_100(step)));
  must(writer->append_event(format::FrameKind::kEvent, -1, format::encode_run_end({})));
  must(writer->seal());
}

void mirror(const fs::path& folder, const std::string& address) {
  storage::BucketPlace place = reach(address);
  storage::BucketMirror mirror(storage::open_local_storage(folder), place.client, place.prefix);
  must(mirror.begin());
  must(mirror.look(true).problem);
}

Result<std::vector<Figure>> measure_open_requests() {
  const TemporaryFolder folder;
  const BenchBucket bucket;
  write_million(folder.path() / "run");
  mirror(folder.path() / "run", "s3://bench/run");
  const auto requests_of = [&](const std::vector<std::string>& words) {
    const std::uint64_t before = bucket.requests(folder.path());
    must(run_typed(words).status());
    return static_cast<double>(bucket.requests(folder.path()) - before);
  };
  const double show = requests_of({"show", "s3://bench/run"});
  const double value = requests_of({"value", "s3://bench/run", "encoder.layer50.attention.weight", "--step", "5000"});
  return std::vector<Figure>{
      {"store.s3_open_requests", spread_of({show}), "", at_most(10),
       "`trainwarden show` of a million records: one listing, run.json, the lease, the index, blocks with names and "
       "shapes"},
      {"store.s3_open_requests.value", spread_of({value}), "", {}, "`trainwarden value` of one scalar at one step"},
  };
}

// --- store.s3_write_vs_boto3, store.s3_read_vs_boto3 ----------------------------------------------------------------

constexpr int kFiles = 4;
constexpr std::size_t kFileBytes = std::size_t{64} << 20;
constexpr int kRounds = 7;
constexpr std::size_t kReadBytes = std::size_t{16} << 20;  // at once

std::vector<std::string> file_names() {
  std::vector<std::string> names;
  for (int i = 0; i < kFiles; ++i) names.push_back(journal::segment_file(static_cast<std::uint64_t>(i)));
  return names;
}

// Segments of one writer, as far as a mirror looks at them.
fs::path write_files(const fs::path& folder) {
  const fs::path journal = folder / "journal" / "rank-00000";
  fs::create_directories(journal);
  std::string bytes(kFileBytes, '\0');
  std::uint64_t state = 1;
  for (const std::string& name : file_names()) {
    for (std::size_t i = 0; i < bytes.size(); i += sizeof state) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::memcpy(bytes.data() + i, &state, sizeof state);
    }
    std::ofstream(journal / name, std::ios::binary) << bytes;
  }
  return journal;
}

class Travel {
  static constexpr const char* kOurs = "s3://bench/ours";

 public:
  Travel(const char* python, const fs::path& scratch)
      : scratch_(scratch), files_(write_files(scratch_ / "run")), boto3_({python, TW_BOTO3_CLIENT}) {
    fs::create_directories(scratch_ / "fetched");
  }

  double write_ours() {
    const storage::BucketPlace place = reach(kOurs);
    for (const std::string& name : file_names()) {  // a mirror sends nothing twice
      must(place.client->remove(fmt::format("{}/journal/rank-00000/{}", place.prefix, name)));
    }
    return elapsed_ns([&] { mirror(scratch_ / "run", kOurs); });
  }
  double write_boto3() { return ask("put", files_); }
  double write_curl() {
    return elapsed_ns([&] {
      run_curls([&](const std::string& name) {
        return fmt::format("-T '{}' {}/bench/curl/{}", (files_ / name).string(), bucket_.address(), name);
      });
    });
  }

  // Each file by a thread of its own, as several readers of one run do.
  double read_ours() {
    const storage::BucketPlace place = reach(kOurs);
    const auto bucket = storage::create_s3_storage(place.client, place.prefix);
    return elapsed_ns([&] {
      std::vector<std::jthread> threads;
      std::array<Status, kFiles> outcomes;
      for (int i = 0; i < kFiles; ++i) {
        threads.emplace_back([&, i] {
          outcomes[static_cast<std::size_t>(i)] = read_file(*bucket, file_names()[static_cast<std::size_t>(i)]);
        });
      }
      threads.clear();
      for (const Status& outcome : outcomes) must(outcome);
    });
  }
  double read_boto3() { return ask("get", scratch_ / "fetched"); }
  double read_curl() {
    return elapsed_ns([&] {
      run_curls([&](const std::string& name) {
        return fmt::format("-o /dev/null {}/bench/curl/{}", bucket_.address(), name);
      });
    });
  }

 private:
  double ask(const char* verb, const fs::path& folder) {
    const std::string line = boto3_.ask(fmt::format("{} {} {}", verb, folder.string(), fmt::join(file_names(), " ")));
    return parse_double(line).value_or(0) * 1e9;
  }
  static Status read_file(const storage::Storage& bucket, const std::string& name) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto file, bucket.open("journal/rank-00000/" + name));
    std::vector<std::byte> bytes(kReadBytes);
    for (std::size_t offset = 0; offset < kFileBytes; offset += kReadBytes) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t count, file->read_at(offset, bytes));
      if (count != kReadBytes) return Status(Code::kInternal, "fewer bytes than were sent");
    }
    return {};
  }
  // A process for each file, at once.
  template <class Arguments>
  void run_curls(Arguments&& arguments) {
    std::string command;
    for (const std::string& name : file_names()) command += fmt::format("curl -sf {} & ", arguments(name));
    run_shell(command + "wait");
  }

  const fs::path scratch_;
  const fs::path files_;
  BenchBucket bucket_;  // before boto3, which takes the environment
  LineProgram boto3_;
};

std::vector<Figure> travel_figures(const std::string& name, const PairedRuns& runs, double goal) {
  const auto mib_per_s = [&](std::size_t arm) {
    return static_cast<double>(kFileBytes) * kFiles / (1 << 20) / (runs.ns(arm).median / 1e9);
  };
  return {{name, runs.ratio(1, 0), "ratio", at_least(goal),
           fmt::format("{} files of 64 MiB: ours {:.0f} MiB/s, boto3 {:.0f}, curl in as many processes {:.0f}", kFiles,
                       mib_per_s(0), mib_per_s(1), mib_per_s(2))},
          {name + ".curl_vs_us",
           runs.ratio(0, 2),
           "ratio",
           {},
           "how far the server is from limiting us: above 3 it does not"}};
}

using Arm = double (Travel::*)();

Result<std::vector<Figure>> measure_travel(const std::string& name, const std::array<Arm, 3>& ways, double goal,
                                           bool is_reading) {
  const char* const python = std::getenv("TRAINWARDEN_RIVALS_PYTHON");
  if (python == nullptr) {
    return Status(Code::kFailedPrecondition, "TRAINWARDEN_RIVALS_PYTHON names no Python with boto3");
  }
  const TemporaryFolder folder;
  Travel travel(python, folder.path());
  if (is_reading) travel.write_ours(), travel.write_boto3(), travel.write_curl();
  std::vector<std::function<double()>> arms;
  for (const Arm way : ways) arms.emplace_back([&travel, way] { return (travel.*way)(); });
  return travel_figures(name, measure_interleaved(kRounds, arms), goal);
}

Result<std::vector<Figure>> measure_writes() {
  return measure_travel("store.s3_write_vs_boto3", {&Travel::write_ours, &Travel::write_boto3, &Travel::write_curl}, 1,
                        false);
}

Result<std::vector<Figure>> measure_reads() {
  return measure_travel("store.s3_read_vs_boto3", {&Travel::read_ours, &Travel::read_boto3, &Travel::read_curl}, 1.2,
                        true);
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"store.s3_open_requests", measure_open_requests},
          {"store.s3_write_vs_boto3", measure_writes},
          {"store.s3_read_vs_boto3", measure_reads}};
}

}  // namespace trainwarden::bench
