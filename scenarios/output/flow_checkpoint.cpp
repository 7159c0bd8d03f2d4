#include "output/flow_checkpoint.hpp"

#include <fmt/format.h>
#include <boost/crc.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include "output/failure.hpp"

namespace phaselock {

namespace {

constexpr std::string_view format = "phaselock flow checkpoint ", version = "1\n";

struct Seal {
  std::uint64_t length;
  std::uint64_t crc;
};

constexpr std::size_t head = format.size() + version.size(), body = head + sizeof(Seal);

Seal seal(std::string_view numbers) {
  boost::crc_32_type crc;
  crc.process_bytes(numbers.data(), numbers.size());
  return {numbers.size(), crc.checksum()};
}

struct CheckpointWriter {
  std::string& bytes;

  template <class Number>
  std::enable_if_t<std::is_arithmetic_v<Number>> operator()(Number& x) {
    bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  template <class Entry>
  void operator()(std::vector<Entry>& list) {
    std::uint64_t size = list.size();
    (*this)(size);
    for (Entry& entry : list) fields(*this, entry);
  }
};

/// Throws std::out_of_range where bytes are missing.
struct Reader {
  std::string_view bytes;

  template <class Number>
  std::enable_if_t<std::is_arithmetic_v<Number>> operator()(Number& x) {
    if (bytes.size() < sizeof x) throw std::out_of_range("too short");
    std::memcpy(&x, bytes.data(), sizeof x);
    bytes.remove_prefix(sizeof x);
  }
  template <class Entry>
  void operator()(std::vector<Entry>& list) {
    std::uint64_t size = 0;
    (*this)(size);
    if (size > bytes.size()) throw std::out_of_range("too short");  // an entry takes a byte at least
    list.resize(size);
    for (Entry& entry : list) fields(*this, entry);
  }
};

// What is written and read, in order.
template <class Archive>
void fields(Archive& archive, double& x) {
  archive(x);
}

template <class Archive>
void fields(Archive& archive, SavedState& saved) {
  archive(saved.t);
  archive(saved.loss);
  archive(saved.weights);
}

template <class Archive>
void fields(Archive& archive, Sample& sample) {
  archive(sample.t);
  archive(sample.loss);
  archive(sample.residual);
  archive(sample.weights);
  archive(sample.static_offsets);
  archive(sample.avg_offsets);
}

template <class Archive>
void fields(Archive& archive, IntegrationPoint& point) {
  archive(point.t);
  archive(point.s);
  archive(point.proposal);
  archive(point.steps);
  archive(point.short_steps);
  archive(point.visited);
  archive(point.growth);
  archive(point.last_step);
  archive(point.error);
}

template <class Archive>
void fields(Archive& archive, FlowCheckpoint& checkpoint) {
  archive(checkpoint.initial_loss);
  archive(checkpoint.stage);
  archive(checkpoint.stage_start);
  archive(checkpoint.descended);
  archive(checkpoint.y);
  fields(archive, checkpoint.point);
  archive(checkpoint.stiff);
  archive(checkpoint.next_look);
  archive(checkpoint.look_every);
  archive(checkpoint.last_s);
  archive(checkpoint.last_weights);
  archive(checkpoint.escape);
  archive(checkpoint.before_escape_s);
  archive(checkpoint.before_escape);
  archive(checkpoint.saved);
  archive(checkpoint.samples);
}

}  // namespace

std::string write_flow_checkpoint(const FlowCheckpoint& checkpoint) {
  std::string bytes = fmt::format("{}{}{}", format, version, std::string(sizeof(Seal), '\0'));
  CheckpointWriter writer{bytes};
  fields(writer, const_cast<FlowCheckpoint&>(checkpoint));  // a writer changes nothing
  const Seal sealed = seal(std::string_view(bytes).substr(body));
  std::memcpy(bytes.data() + head, &sealed, sizeof sealed);
  return bytes;
}

FlowCheckpoint read_flow_checkpoint(const std::string& bytes, const std::string& file) {
  const auto refuse = [&](const char* why) { return Failure(Exit::bad_data, fmt::format("{}: {}", file, why)); };
  const std::string_view text = bytes;
  const Failure damaged =
      refuse("damaged: length or checksum do not fit; without this file the run starts again from the beginning");
  if (text.size() < body || text.substr(0, format.size()) != format) throw damaged;
  if (text.substr(format.size(), version.size()) != version) throw refuse("of another version of phaselock, which can resume it");
  Seal sealed = {};
  std::memcpy(&sealed, bytes.data() + head, sizeof sealed);
  const Seal found = seal(text.substr(body));
  if (sealed.length != found.length || sealed.crc != found.crc) throw damaged;
  FlowCheckpoint checkpoint;
  Reader reader{text.substr(body)};
  try {
    fields(reader, checkpoint);
  } catch (const std::out_of_range&) {
    throw damaged;
  }
  if (!reader.bytes.empty()) throw damaged;
  return checkpoint;
}

}  // namespace phaselock
