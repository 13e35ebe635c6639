// Channels: a job's inputs as its program finds them.
//
// What lies on this machine, or was fetched to it, is linked, in File and in FastFile mode. A channel that is
// ShardedByS3Key is divided among the nodes by this rule: its files, sorted by the bytes of their paths, are counted
// from 0, and node i of n gets those whose number is i modulo n.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::workspace {

inline constexpr std::size_t kMaxShardedFiles = 1'000'000;

struct JobNode {
  std::int64_t number = 0;  // from 0
  std::int64_t count = 1;
};

// Which of `files` (paths within the channel) are this node's.
std::vector<std::string> shard_of(std::vector<std::string> files, const JobNode& node);

// Makes `folder`/NAME what the program is to see of the channel, in place of what an earlier attempt has made, and
// writes the list of a share beside it: `folder`/NAME.files. kNotFound when nothing is at its source,
// kResourceExhausted when it has more than kMaxShardedFiles to divide.
// `source` is where its data lie on this machine.
Status link_channel(const jobs::Channel& channel, const std::filesystem::path& source,
                    const std::filesystem::path& folder, const JobNode& node);

}  // namespace trainwarden::workspace
