// Podman and apptainer: which is there, and the words that start a container.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::containers {

enum class ContainerEngine : std::uint8_t { kPodman, kApptainer };
std::string_view name(ContainerEngine engine);  // "podman": the program, too

struct Mount {
  std::filesystem::path source;  // of this machine
  std::filesystem::path target;  // in the container
  bool writable = true;
  friend bool operator==(const Mount&, const Mount&) = default;
};

struct ContainerPlan {
  std::string image;
  std::string name;  // no other container has it
  std::string key;   // of the attempt: its label
  std::vector<Mount> mounts;
  std::filesystem::path folder;        // the program works here
  std::vector<std::string> variables;  // names of those that are handed on
  std::vector<int> gpus;               // numbers of GPUs that it sees; none: no GPU
  std::uint64_t memory_bytes = 0;      // 0: the engine sets no limit
  bool isolated_network = false;       // no network, but itself
  bool shares_network = false;         // of this machine: other ranks find it under its address; unless it is isolated
  // It stays in the control group of who starts it, which a batch system counts and ends. The engine sets no limit
  // then.
  bool keeps_control_group = false;
  bool keeps_user = false;  // this user is not root: files that the program writes are to be this user's
  std::vector<std::string> program;
};

// The engine for an image: apptainer for a file that ends with ".sif"; else podman, or apptainer when podman is not
// there. kNotFound says what to install.
Result<ContainerEngine> find_engine(const std::string& image,
                                    const std::function<bool(const std::string&)>& is_program);
bool is_in_path(const std::string& program);

// The program keeps the numbers of processes and the shared memory of this machine, so that signals reach it as they
// would without a container and data loaders have room.
std::vector<std::string> container_words(ContainerEngine engine, const ContainerPlan& plan);

// Of the image as it lies here, "sha256:..."; podman fetches it first when it is not here, for an hour at most. Empty:
// apptainer does not say. Errors: what the engine says.
Result<std::string> digest_of_image(ContainerEngine engine, const std::string& image);
// Podman's word for a container that has ended; false for apptainer.
bool ended_out_of_memory(ContainerEngine engine, const std::string& container);

}  // namespace trainwarden::containers
