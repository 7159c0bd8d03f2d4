// What a run hands over: results, tables and a summary.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/model.hpp"
#include "output/table.hpp"

namespace phaselock {

struct Report {
  Json results;
  std::vector<CsvTable> tables;
  std::vector<std::string> summary;       ///< lines for people
  Json certificate = nullptr;             ///< a certificate of what the run proved (docs/certificate.md), or null
  std::vector<TableSchema> written = {};  ///< tables that the run has put into its folder itself

  /// tables.json of the run's folder.
  Json tables_document() const;

  /// "PROVED" if the run carries a certificate, else null.
  Json verdict() const { return certificate.is_null() ? Json() : Json("PROVED"); }
};

/// "L = 4, S = 4, H = 3, N = 64, gamma = 1, beta = 1".
std::string model_text(const Model& model);

/// "0.1235  2  ..." of numbers in short, the first 16 of them.
std::string list_text(std::span<const double> numbers);

}  // namespace phaselock
