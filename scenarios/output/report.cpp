#include "output/report.hpp"

namespace phaselock {

Json Report::tables_document() const {
  std::vector<TableSchema> all = written;
  for (const CsvTable& table : tables) all.push_back(table.schema);
  return tables_json(all);
}

std::string model_text(const Model& model) {
  return fmt::format("L = {}, S = {}, H = {}, N = {}, gamma = {}, beta = {}", model.blocks, model.positions, model.heads,
                     model.vocabulary, model.gamma, model.beta);
}

std::string list_text(std::span<const double> numbers) {
  std::string text;
  for (std::size_t k = 0; k < numbers.size() && k < 16; ++k) text += fmt::format("{}{:.4g}", k ? "  " : "", numbers[k]);
  return numbers.size() > 16 ? text + "  ..." : text;
}

}  // namespace phaselock
