#include "network/network_actions.h"
