// Side constraints on which columns go together, as rows of whole numbers: sum of coef_j over the chosen columns <=
// upper. Whole numbers, so that the search, the checks and whoever reads the certificate agree on what is allowed.
#pragma once

#include <cstdint>
#include <vector>

#include "bound/fixes.hpp"

namespace parsifal {

class SideRows {
  public:
    struct Entry {
        Index column;
        std::int64_t coef;
    };
    struct Row {
        std::vector<Entry> entries;
        std::int64_t upper = 0;
    };

    SideRows() = default;
    SideRows(std::vector<Row> rows, Index columns);

    bool empty() const { return rows_.empty(); }
    const std::vector<Row>& rows() const { return rows_; }

    // The rows on these columns alone, in positions of `columns` (ascending); all other columns are out.
    SideRows take(const std::vector<Index>& columns) const;

    // Fixes what the rows imply, until nothing changes; false if no support that agrees with the fixes is allowed.
    bool propagate(Eigen::Ref<Fixes> fix) const;

    bool allow(const std::vector<Index>& support) const;
    // Columns that are free and in a row that this support breaks.
    std::vector<Index> broken(const std::vector<Index>& support, const ConstFix& fix) const;

    // The value of every row for a support, and whether the support that has `leave` replaced by `enter` (-1: none) is
    // allowed, if the support itself is.
    std::vector<std::int64_t> values(const std::vector<Index>& support) const;
    bool allow_move(const std::vector<std::int64_t>& values, Index leave, Index enter) const;

    // An allowed support of at most k columns: the columns that are in, then those of `order` one after the other, each
    // with what it implies, where that is possible. Empty optional: `found` is false.
    std::vector<Index> build(Fixes fix, const std::vector<Index>& order, Index k, bool& found) const;

  private:
    struct Use {
        Index row;
        std::int64_t coef;
    };
    std::int64_t coef_of(Index row, Index column) const;

    std::vector<Row> rows_;
    std::vector<std::vector<Use>> uses_;  // of every column
    Index columns_ = 0;
};

}  // namespace parsifal
