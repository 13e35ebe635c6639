// SameEnd: a program that stands for another one ends as that one has ended.
#pragma once

#include "core/process/exit_record.h"

namespace trainwarden::process {

// Where a signal ended the other program, that signal ends this process, so that whoever waits for it sees the same; no
// core file is written a second time. Returns where it did not, or where the signal cannot be sent. What stdio still
// holds is written first; nothing of atexit() runs.
void end_by_the_same_signal(const ExitRecord& exit);

}  // namespace trainwarden::process
