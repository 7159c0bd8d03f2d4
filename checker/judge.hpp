// Whether what a certificate claims is proved.
#pragma once

#include <string>
#include <vector>

#include "certificate.hpp"

namespace phaselock_check {

/// Everything that is wrong with a certificate; if nothing is, its statement is proved.
std::vector<std::string> reasons_to_reject(const Certificate& certificate);

}  // namespace phaselock_check
