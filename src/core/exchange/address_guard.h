// Which addresses we talk to. A URL may come from people who should not reach what the machine can: the metadata
// services of clouds give credentials away to whoever asks from inside.
#pragma once

#include <sys/socket.h>

namespace trainwarden::exchange {

bool is_loopback(const sockaddr& address);

// Link-local addresses, the metadata services of clouds, the unspecified address, multicast and broadcast, also when
// they are written as IPv6 addresses that stand for IPv4 ones. Private networks are not forbidden: that is where
// people's own handlers are.
bool is_forbidden(const sockaddr& address);

}  // namespace trainwarden::exchange
