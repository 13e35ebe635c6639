"""The contenders in Python, a module each.

    version()                                  what is measured, with its number
    Writer(folder)                             .write_step(step, [(name, array), ...]), .close()
    Reader(folder)                             .names(), .steps(), .tensor(name, steps), .step(step, names) -> by name
    Follower(folder)                           .look(step, name) -> the array, or None while the step is not there
    LiveWriter(folder)                         where a run that is followed has to be written in another way; with
                                               .first_step_done() where something has to be done then

Each is written as its own documents advise, without compression and without syncs, which no contender does here.
"""
