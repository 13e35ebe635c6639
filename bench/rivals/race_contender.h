// RaceContender: what the race asks of a contender in C++. Errors are thrown: who cannot do its work has no figure.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "race_load.h"

namespace trainwarden::bench {

// Bytes that were read, and who keeps them.
struct RaceBytes {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::shared_ptr<const void> owner;
};

class RaceWriter {
 public:
  virtual ~RaceWriter() = default;
  virtual void write_step(const RaceLoad& load, int step) = 0;
  virtual void close() = 0;
};

class RaceReader {
 public:
  virtual ~RaceReader() = default;
  virtual std::vector<std::string> names() = 0;
  virtual std::vector<std::int64_t> steps() = 0;
  virtual RaceBytes value(std::string_view tensor, int step) = 0;
  // Of a run that is being written: the value, once the step is there.
  virtual std::optional<RaceBytes> look(std::string_view tensor, int step) = 0;
};

std::unique_ptr<RaceWriter> open_our_writer(const std::filesystem::path& folder);
std::unique_ptr<RaceReader> open_our_reader(const std::filesystem::path& folder);

// The limit: a file a step with the bytes of its tensors one after the other, by write() and read(), and a file with
// the names and places of the first step's. It has neither checksums nor anything that says what the bytes are.
std::unique_ptr<RaceWriter> open_plain_writer(const std::filesystem::path& folder);
std::unique_ptr<RaceReader> open_plain_reader(const std::filesystem::path& folder);

}  // namespace trainwarden::bench
