#include "cli/commands.hpp"

int main(int argc, char** argv) { return phaselock::command_line(argc, argv); }
