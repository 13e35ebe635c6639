// Program: what is to be started, and how.
#pragma once

#include <csignal>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <signal.h>

namespace trainwarden::process {

// What is changed of our own environment. A name that is removed and set is set.
struct EnvironmentChanges {
  std::map<std::string, std::string> set;
  std::vector<std::string> removed;
};

// "NAME=value" for each variable of our environment with these changes.
std::vector<std::string> environment_with(const EnvironmentChanges& changes);

// Handlers of ours are never inherited; what is blocked and what is ignored is, unless this says otherwise.
struct SignalStart {
  SignalStart();  // nothing blocked, and ignored is what we ignore
  static SignalStart all_default();
  // As long-lived processes want it: SIGPIPE, SIGXFSZ and SIGCHLD, which we or Python ignore, are reset. The others
  // stay as they are: who started us with nohup meant what we start as well.
  static SignalStart usual();

  sigset_t blocked;
  sigset_t reset;  // to the default action
};

struct Program {
  std::vector<std::string> command;  // the program, looked up in our PATH, and its arguments; not empty
  EnvironmentChanges environment;
  std::string folder;  // it works here; empty: where we do
  // Number in the program -> open descriptor of ours, which stays ours. Of the numbers 0, 1 and 2 those that are not
  // named are inherited. core/process/descriptors.h opens files, pipes and sockets for this.
  std::map<int, int> descriptors;
  bool closes_others = true;  // descriptors of ours that are not named and not close-on-exec, from 3 up
  SignalStart signals;
  bool own_group = false;     // a process group of its own; else it shares ours, and the terminal's signals
  bool ends_with_us = false;  // it is ended (SIGIO) when this process has gone, in whatever way
  bool core_file = true;      // false: none is written when it crashes
  // Open descriptors of ours on files cgroup.procs: it enters these control groups before it begins, so that all that
  // it starts is in them too.
  std::vector<int> control_groups;
  std::uint64_t memory_bytes = 0;  // of address space, for each of its processes; 0: no limit
  int nice = 0;                    // added to ours
};

}  // namespace trainwarden::process
