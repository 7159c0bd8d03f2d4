// Checkpoints of flows as files: exact numbers behind a checksum.
#pragma once

#include <string>

#include "flow/flow.hpp"

namespace phaselock {

constexpr const char* flow_checkpoint_file = "checkpoint.bin";

/// The file's bytes: the line "phaselock flow checkpoint 1", length and CRC-32 of what follows, then the numbers in the machine's
/// byte order.
std::string write_flow_checkpoint(const FlowCheckpoint& checkpoint);

/// Reads them back, bit for bit. Throws Failure (bad_data), naming `file`, if a byte is missing, changed or too many, and for
/// another version of the format.
FlowCheckpoint read_flow_checkpoint(const std::string& bytes, const std::string& file);

}  // namespace phaselock
