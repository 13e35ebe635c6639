// Folders and files wherever a run may lie, in Python. trainwarden/_places.py has what the packages use.
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "python_trial.h"
#include "store/storage/location.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;
using storage::FileInfo;
using storage::Location;

// Without the GIL: a bucket takes its time.
template <class Look>
auto look_at(const std::string& address, Look look) {
  return value_or_raise([&] {
    const nb::gil_scoped_release released;
    const Location place(address);
    return look(place.storage());
  }());
}

const char* kind_of(FileInfo::Kind kind) {
  switch (kind) {
    case FileInfo::Kind::kFile: return "file";
    case FileInfo::Kind::kFolder: return "folder";
    case FileInfo::Kind::kLink: return "link";
    case FileInfo::Kind::kOther: break;
  }
  return "other";
}

using EntryTuple = std::tuple<std::string, std::string, std::uint64_t, std::int64_t>;

std::vector<EntryTuple> entries(const std::string& address, const std::string& path) {
  std::vector<EntryTuple> found;
  for (const storage::Entry& entry : look_at(address, [&](storage::Storage& there) { return there.entries(path); })) {
    found.emplace_back(entry.name, kind_of(entry.info.kind), entry.info.bytes, entry.info.changed_unix_ns);
  }
  return found;
}

bool exists(const std::string& address, const std::string& path) {
  return look_at(address, [&](storage::Storage& there) -> Result<bool> {
    const Result<FileInfo> info = there.info(path);
    if (info.ok() || info.status().code() == Code::kNotFound) return info.ok();
    return info.status();
  });
}

nb::bytes read(const std::string& address, const std::string& path, std::uint64_t limit_bytes) {
  const std::string content = look_at(address, [&](storage::Storage& there) { return there.read(path, limit_bytes); });
  return nb::bytes(content.data(), content.size());
}

}  // namespace

void bind_places(nb::module_& module) {
  module.def("place_entries", entries, nb::arg("address"), nb::arg("path"),
             "Name, kind, bytes and time of change in ns since 1970 of what lies in a folder.");
  module.def("place_exists", exists, nb::arg("address"), nb::arg("path"), "Is there such a file or folder?");
  module.def("place_read", read, nb::arg("address"), nb::arg("path"), nb::arg("limit_bytes"), "A whole file.");
}

}  // namespace trainwarden::python
