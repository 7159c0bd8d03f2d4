// Tables: header, comment and description from one declaration of the columns.
#include "output/table.hpp"

#include <doctest/doctest.h>

namespace phaselock::test {

using enum ColumnType;

TEST_SUITE("fast") {
  TEST_CASE("the comment names columns of one meaning together, and leaves out what has none") {
    const TableSchema schema = {"a.csv", "about",
                                joined({{{"t", number, "time"}, {"branch", text}},
                                        alike({"head", "offset"}, {"", integer, "from 0"}),
                                        {{"loss", number, "", "nats"}, {"hidden", number, "not said", "", false}}})};
    CHECK(schema.comment() == "t: time; head, offset: from 0; loss: nats");
    CHECK(schema.header() == "t,branch,head,offset,loss,hidden");
    const TableSchema framed = {"b.csv", "about", estimate({"x", share, "a share"}), "first", "last"};
    CHECK(framed.comment() == "first; x: a share; last");
    CHECK(framed.header() == "x,x_low,x_high");
    const TableSchema apart = {"c.csv", "", joined({estimate({"x", share, "shares"}), estimate({"y", share, "shares"})})};
    CHECK(apart.comment() == "x, y: shares");
  }

  TEST_CASE("tables.json names each table's columns with unit, type and meaning") {
    const TableSchema schema = {"a.csv", "about", {{"k", integer, "a count"}, {"loss", number, "", "nats"}, {"w", text}}, "first"};
    CHECK(tables_json({schema}).dump() ==
          R"({"a.csv":{"about":"about; first","columns":[{"name":"k","unit":"","type":"integer","meaning":"a count"},)"
          R"({"name":"loss","unit":"nats","type":"number","meaning":""},{"name":"w","unit":"","type":"text","meaning":""}]}})");
  }

  TEST_CASE("cells: numbers come back exactly, what is not finite is empty, an estimate takes three") {
    CsvTable csv({"a.csv", "", joined({{{"x", number, "none"}, {"y", number}, {"z", text}}, estimate({"e", share})})});
    csv.row(0.1, NAN, "K", Estimate{0.5, {0.25, NAN}});
    csv.row(1e-300, INFINITY, 3, Estimate{0.5, {0.25, 1.0}});
    CHECK(csv.name() == "a.csv");
    CHECK(csv.text == "# x: none\nx,y,z,e,e_low,e_high\n0.1,,K,0.5,0.25,\n1e-300,,3,0.5,0.25,1\n");
  }
}

}  // namespace phaselock::test
