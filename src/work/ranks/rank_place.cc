#include "work/ranks/rank_place.h"

#include <algorithm>

#include <netinet/in.h>
#include <sys/socket.h>

#include "core/base/file_descriptor.h"

namespace trainwarden::ranks {

std::map<std::string, std::string> torchrun_variables(const RankPlace& place) {
  std::map<std::string, std::string> variables = {{"RANK", std::to_string(place.rank)},
                                                  {"LOCAL_RANK", std::to_string(place.local_rank)},
                                                  {"WORLD_SIZE", std::to_string(place.world_size)},
                                                  {"LOCAL_WORLD_SIZE", std::to_string(place.local_world_size)},
                                                  {"GROUP_RANK", std::to_string(place.node)},
                                                  {"GROUP_WORLD_SIZE", std::to_string(place.nodes)},
                                                  {"NODE_RANK", std::to_string(place.node)},
                                                  {"MASTER_ADDR", place.master_address}};
  if (!place.master_port.empty()) variables.emplace("MASTER_PORT", place.master_port);
  return variables;
}

Result<int> free_port() {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t bytes = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (!socket.is_open() || ::bind(socket.get(), any, bytes) != 0 || ::getsockname(socket.get(), any, &bytes) != 0) {
    return Status(Code::kUnavailable, "no port of this machine is free for MASTER_PORT");
  }
  return ntohs(address.sin_port);
}

std::int64_t rank_count(const jobs::Resources& resources) {
  return resources.nodes * resources.tasks_per_node;
}

void add_rank_variables(const jobs::Resources& resources, std::int64_t node_cpus,
                        std::map<std::string, std::string>& environment) {
  const bool several = rank_count(resources) > 1;
  const std::int64_t share = std::max<std::int64_t>(node_cpus / resources.tasks_per_node, 1);
  const std::int64_t threads = resources.threads_per_rank.value_or(resources.cpus.value_or(share));
  if (several || resources.threads_per_rank) environment.try_emplace("OMP_NUM_THREADS", std::to_string(threads));
  if (resources.network_interface.empty()) return;
  environment.try_emplace("NCCL_SOCKET_IFNAME", resources.network_interface);
  environment.try_emplace("GLOO_SOCKET_IFNAME", resources.network_interface);
}

}  // namespace trainwarden::ranks
