#include "delivery/wiring.h"

#include "delivery/courier.h"
