// The program `trainwarden`: parses the command line, runs the command, says what went wrong.
#pragma once

namespace trainwarden::cli {

// main(): the exit code of the process.
int run_program(int argc, char** argv);

}  // namespace trainwarden::cli
