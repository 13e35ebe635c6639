#include "events/run_status.h"

#include "events/description.h"
#include "events/recorder.h"
