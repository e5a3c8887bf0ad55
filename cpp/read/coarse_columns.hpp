// Columns in a byte an entry, for a first look at products: x_j = step_j q_j + (a rest of known size), so that
//
//   |x_j'v| <= |step_j q_j'v| + |rest_j| |v|,
//
// at an eighth of the memory traffic of doubles. Most columns are far from the threshold that they are held against,
// and this is all that is ever computed of them.
//
// Where there is no room for a copy of every column, the others are compared with a vector of reference u, with which
// their products are known: |x_j'v| is within |x_j| |v - u| of |x_j'u|.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "read/column_store.hpp"

namespace parsifal {

class CoarseColumns {
  public:
    using Position = ColumnStore::Position;

    // An interval for |x_j'v|: centre - error to centre + error.
    struct Look {
        double centre, error;
    };

    CoarseColumns(Position rows, Position columns);
    // Copies of the columns with `copied` other than 0 only.
    CoarseColumns(Position rows, std::span<const signed char> copied, std::span<const double> reference);
    void set(Position j, const double* x);

    // For j = which[i]; what rounding can be worth is in the errors.
    void look(std::span<const Position> which, const double* v, Look* out) const;

  private:
    struct Column {
        double step, rest, norm;  // norm: of step q; without a copy: |x'u|, its rounding error, and |x|
        Position slot;            // of the copy; -1: none
    };
    double distance(const double* v) const;

    Position rows_;
    std::vector<double> reference_;  // empty: every column has a copy
    std::vector<std::int8_t> entries_;
    std::vector<Column> columns_;
};

}  // namespace parsifal
