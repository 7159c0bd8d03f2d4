// phaselock-check FILE: checks a certificate again, with formulas and intervals of its own (docs/certificate.md).
#include <cstdio>
#include <string>

#include "judge.hpp"

using namespace phaselock_check;

int main(int count, char** arguments) {
  const std::string argument = count == 2 ? arguments[1] : "";
  if (argument.empty() || (argument[0] == '-' && argument != "--help")) {
    std::fputs("usage: phaselock-check FILE\n", stderr);
    return 64;
  }
  if (argument == "--help") {
    std::puts(
        "usage: phaselock-check FILE\n\nChecks a certificate of phaselock with formulas and interval arithmetic of its own.\n"
        "Exit code: 0 accepted, 1 rejected (reasons on standard output), 65 unreadable (reason on standard error), 64 wrong "
        "usage.");
    return 0;
  }
  try {
    const Certificate certificate = read_certificate(argument);
    const std::vector<std::string> reasons = reasons_to_reject(certificate);
    for (const std::string& reason : reasons) std::printf("rejected: %s\n", reason.c_str());
    if (reasons.empty()) std::printf("accepted: %s\n", certificate.statement.c_str());
    return reasons.empty() ? 0 : 1;
  } catch (const Unreadable& error) {
    std::fprintf(stderr, "unreadable: %s\n", error.what());
    return 65;
  }
}
