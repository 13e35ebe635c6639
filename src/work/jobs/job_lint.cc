#include "work/jobs/job_lint.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/storage/bucket_folder.h"
#include "work/log_metrics/lint.h"

namespace trainwarden::jobs {
namespace {

constexpr std::string_view kFileScheme = "file://";

class Linter {
 public:
  Linter(const JobSpec& spec, const Surroundings& surroundings, document::Mistakes& mistakes)
      : spec_(spec), surroundings_(surroundings), mistakes_(mistakes) {}

  std::vector<Warning> warnings() {
    check_program();
    check_files();
    check_inputs();
    check_resources();
    check_metrics();
    return std::move(warnings_);
  }

 private:
  std::filesystem::path resolved(const std::string& path) const {
    return (surroundings_.folder / path).lexically_normal();
  }

  void wrong(std::string_view place, std::string_view what) { mistakes_.add(place, what); }

  // Whole paths of a job for another machine, and programs in its PATH, are that machine's: it checks them itself.
  bool is_on_host(const std::string& path) const {
    const bool is_whole = std::filesystem::path(path).is_absolute() || path.find("://") != std::string::npos;
    return spec_.backend == Backend::kSsh && is_whole;
  }

  void need(FileKind wanted, std::string_view field, const std::string& path) {
    if (is_on_host(path)) return;
    const FileKind found = surroundings_.look(resolved(path));
    if (found == wanted) return;
    wrong(spec_.place_of(field),
          fmt::format("{}: expected a {}, found {}: {}", field, wanted == FileKind::kFile ? "file" : "folder",
                      found == FileKind::kNone   ? "nothing there"
                      : found == FileKind::kFile ? "a file"
                                                 : "a folder",
                      printable(resolved(path).string())));
  }

  void check_program() {
    if (!spec_.image.empty()) {
      check_engine();
    } else if (!spec_.program.empty()) {
      const std::string& program = spec_.program.front();
      const bool by_name = program.find('/') == std::string::npos;
      const bool on_host = is_on_host(program) || (by_name && spec_.backend == Backend::kSsh);
      if (!on_host && !surroundings_.is_program(by_name ? program : resolved(program).string())) {
        wrong(spec_.place_of("program"),
              fmt::format("program: \"{}\" is not found, as a path or in PATH", printable(program)));
      }
    }
    if (!spec_.source_dir.empty()) need(FileKind::kFolder, "source_dir", spec_.source_dir);
    if (!spec_.entry_point.empty()) check_entry_point();
    for (const std::string& folder : spec_.dependencies) need(FileKind::kFolder, "dependencies", folder);
  }

  // What the image has is not looked at: it may have to be fetched.
  void check_engine() {
    if (spec_.backend != Backend::kLocal) return;
    const bool is_file = spec_.image.ends_with(".sif");
    const bool any = surroundings_.is_program("apptainer") || (!is_file && surroundings_.is_program("podman"));
    if (any) return;
    wrong(spec_.place_of("image"),
          is_file ? "image: a .sif file needs apptainer, which is not installed"
                  : "image: neither podman nor apptainer is installed; on Debian: apt-get install podman");
  }

  void check_entry_point() {
    const std::filesystem::path entry = std::filesystem::path(spec_.entry_point).lexically_normal();
    if (!spec_.source_dir.empty() && (entry.is_absolute() || entry.begin()->string() == "..")) {
      wrong(spec_.place_of("entry_point"),
            fmt::format("entry_point: expected a path within source_dir, found \"{}\"", printable(spec_.entry_point)));
      return;
    }
    const std::string path = (std::filesystem::path(spec_.source_dir) / entry).string();
    if (surroundings_.look(resolved(path)) == FileKind::kFolder) {
      need(FileKind::kFile, "entry_point", path + "/setup.py");
    } else {
      need(FileKind::kFile, "entry_point", path);
    }
  }

  void check_files() {
    if (!spec_.hook_config.empty()) need(FileKind::kFile, "hook", spec_.hook_config);
    if (!spec_.actions.empty()) need(FileKind::kFile, "actions", spec_.actions);
    for (const std::string& place : {spec_.output_dir, spec_.checkpoints.path, spec_.tensorboard, spec_.mirror}) {
      note_bucket(spec_.place, place);
    }
    if (!spec_.mirror.empty() && !is_unreachable(spec_.mirror)) {
      wrong(
          spec_.place_of("mirror"),
          fmt::format("mirror: expected a bucket that is reached over a network, and here TRAINWARDEN_BUCKETS makes a "
                      "folder of {}: leave mirror out, or unset the variable",
                      printable(spec_.mirror)));
    }
  }

  void check_inputs() {
    for (const Channel& channel : spec_.inputs) {
      if (is_on_host(channel.source)) continue;
      if (is_unreachable(channel.source)) {
        note_bucket(channel.place, channel.source);
      } else {
        const std::string path = reachable(channel.source);
        if (surroundings_.look(resolved(path)) == FileKind::kNone) {
          wrong(channel.place,
                fmt::format("inputs: {}: nothing is there: {}", channel.name, printable(resolved(path).string())));
        } else if (spec_.resources.nodes > 1 && channel.distribution == Distribution::kShardedByKey &&
                   surroundings_.look(resolved(path)) == FileKind::kFile) {
          warnings_.push_back({"SHARDS", channel.place,
                               fmt::format("inputs: {}: one file cannot be divided among {} nodes: all but the first "
                                           "get nothing",
                                           channel.name, spec_.resources.nodes)});
        }
      }
    }
  }

  static bool is_unreachable(const std::string& source) {
    return storage::is_bucket_address(source) && !storage::folder_of_bucket(source).ok();
  }

  // Its path on this machine.
  static std::string reachable(const std::string& source) {
    if (storage::is_bucket_address(source)) return storage::folder_of_bucket(source)->string();
    return source.starts_with(kFileScheme) ? source.substr(kFileScheme.size()) : source;
  }

  void note_bucket(const std::string& place, const std::string& source) {
    if (is_on_host(source) || !is_unreachable(source)) return;
    const Status status = storage::folder_of_bucket(source).status();
    if (status.code() == Code::kUnimplemented && storage::reaches_buckets()) return;  // it is copied
    warnings_.push_back({"BUCKET", place, storage::folder_of_bucket(source).status().message()});
  }

  void check_resources() {
    if (spec_.backend == Backend::kLocal) check_machine();  // what a cluster has, it says when a job is submitted
    const Resources& wanted = spec_.resources;
    if (wanted.threads_per_rank && wanted.cpus && *wanted.threads_per_rank > *wanted.cpus) {
      wrong(wanted.place,
            fmt::format("threads_per_rank: {} threads on {} processors", *wanted.threads_per_rank, *wanted.cpus));
    }
  }

  // One node's share on this machine.
  void check_machine() {
    const Resources& wanted = spec_.resources;
    const Machine& machine = surroundings_.machine;
    const std::int64_t cpus = wanted.cpus.value_or(0) * wanted.tasks_per_node;  // who says nothing shares what there is
    if (cpus > machine.cpus) {
      wrong(wanted.place,
            fmt::format("cpus: the tasks of a node want {} processors, this machine has {}", cpus, machine.cpus));
    }
    if (machine.gpus && wanted.gpus.value_or(0) > *machine.gpus) {
      wrong(wanted.place,
            fmt::format("gpus: expected {} at most, as this machine has, found {}", *machine.gpus, *wanted.gpus));
    }
    check_bytes("memory", wanted.memory_bytes, machine.memory_bytes, "has");
    check_bytes("volume", wanted.volume_bytes, machine.free_disk_bytes, "has free");
  }

  void check_bytes(std::string_view field, std::optional<std::uint64_t> wanted, std::uint64_t there,
                   std::string_view has) {
    if (!wanted || there == 0 || *wanted <= there) return;
    wrong(spec_.resources.place, fmt::format("{}: expected {} at most, as this machine {}, found {}", field,
                                             format_bytes(there), has, format_bytes(*wanted)));
  }

  void check_metrics() {
    for (const log_metrics::LintWarning& warning : log_metrics::lint(spec_.metrics)) {
      const std::string better = warning.instead.empty() ? "" : "; better: " + printable(warning.instead);
      warnings_.push_back({warning.code, warning.place,
                           fmt::format("{}: {}{}", printable(warning.metric), printable(warning.message), better)});
    }
  }

  const JobSpec& spec_;
  const Surroundings& surroundings_;
  document::Mistakes& mistakes_;
  std::vector<Warning> warnings_;
};

}  // namespace

std::vector<Warning> lint(const JobSpec& spec, const Surroundings& surroundings, document::Mistakes& mistakes) {
  return Linter(spec, surroundings, mistakes).warnings();
}

}  // namespace trainwarden::jobs
