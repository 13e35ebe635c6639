// Lets whoever embeds this say that a wait for a server is to end: Python, where somebody has pressed Ctrl-C.
#pragma once

#include <chrono>
#include <stop_token>

namespace trainwarden::exchange {

// Asked by each thread that waits for a server, ten times a second, and before each exchange. It may wait itself.
using AskInterruption = bool (*)();

// Once, before there are exchanges.
void set_interruption(AskInterruption ask);
bool has_interruption();
bool is_interrupted();

// Returns after `interval`, or as soon as the wait is to end for either reason. False: it is to end.
bool pause_between_exchanges(std::chrono::milliseconds interval, const std::stop_token& stop);

}  // namespace trainwarden::exchange
