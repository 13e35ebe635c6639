#include "ui/cli/commands/program.h"

int main(int argc, char** argv) {
  return trainwarden::cli::run_program(argc, argv);
}
