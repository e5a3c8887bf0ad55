#include "bound/side_rows.hpp"

#include <algorithm>
#include <utility>

namespace parsifal {

SideRows::SideRows(std::vector<Row> rows, Index columns)
    : rows_(std::move(rows)), uses_(static_cast<size_t>(columns)), columns_(columns) {
    for (size_t r = 0; r < rows_.size(); ++r)
        for (const Entry& entry : rows_[r].entries)
            uses_[static_cast<size_t>(entry.column)].push_back({static_cast<Index>(r), entry.coef});
}

SideRows SideRows::take(const std::vector<Index>& columns) const {
    if (rows_.empty()) return {};
    std::vector<Index> position(static_cast<size_t>(columns_), -1);
    for (size_t a = 0; a < columns.size(); ++a) position[static_cast<size_t>(columns[a])] = static_cast<Index>(a);
    std::vector<Row> kept;
    for (const Row& row : rows_) {
        Row small{{}, row.upper};
        std::int64_t largest = 0;
        for (const Entry& entry : row.entries) {
            const Index at = position[static_cast<size_t>(entry.column)];
            if (at < 0) continue;
            small.entries.push_back({at, entry.coef});
            largest += std::max<std::int64_t>(entry.coef, 0);
        }
        // A row that nothing here can break says nothing here.
        if (largest > small.upper) kept.push_back(std::move(small));
    }
    return {std::move(kept), static_cast<Index>(columns.size())};
}

bool SideRows::propagate(Eigen::Ref<Fixes> fix) const {
    for (bool changed = true; changed;) {
        changed = false;
        for (const Row& row : rows_) {
            std::int64_t least = 0;
            for (const Entry& entry : row.entries)
                if (fix[entry.column] > 0 || (fix[entry.column] == 0 && entry.coef < 0)) least += entry.coef;
            if (least > row.upper) return false;
            for (const Entry& entry : row.entries) {
                if (fix[entry.column] != 0) continue;
                const std::int64_t other = entry.coef > 0 ? least + entry.coef : least - entry.coef;
                if (other <= row.upper) continue;
                fix[entry.column] = entry.coef > 0 ? -1 : 1;
                changed = true;
            }
        }
    }
    return true;
}

std::vector<std::int64_t> SideRows::values(const std::vector<Index>& support) const {
    std::vector<std::int64_t> value(rows_.size(), 0);
    if (rows_.empty()) return value;
    for (const Index j : support)
        for (const Use& use : uses_[static_cast<size_t>(j)]) value[static_cast<size_t>(use.row)] += use.coef;
    return value;
}

bool SideRows::allow(const std::vector<Index>& support) const {
    const std::vector<std::int64_t> value = values(support);
    for (size_t r = 0; r < rows_.size(); ++r)
        if (value[r] > rows_[r].upper) return false;
    return true;
}

std::vector<Index> SideRows::broken(const std::vector<Index>& support, const ConstFix& fix) const {
    std::vector<Index> free;
    const std::vector<std::int64_t> value = values(support);
    for (size_t r = 0; r < rows_.size(); ++r)
        if (value[r] > rows_[r].upper)
            for (const Entry& entry : rows_[r].entries)
                if (fix[entry.column] == 0) free.push_back(entry.column);
    std::sort(free.begin(), free.end());
    free.erase(std::unique(free.begin(), free.end()), free.end());
    return free;
}

std::int64_t SideRows::coef_of(Index row, Index column) const {
    if (column < 0) return 0;
    for (const Use& use : uses_[static_cast<size_t>(column)])
        if (use.row == row) return use.coef;
    return 0;
}

bool SideRows::allow_move(const std::vector<std::int64_t>& values, Index leave, Index enter) const {
    if (rows_.empty()) return true;
    for (const Index column : {leave, enter}) {
        if (column < 0) continue;
        for (const Use& use : uses_[static_cast<size_t>(column)]) {
            const std::int64_t after =
                values[static_cast<size_t>(use.row)] - coef_of(use.row, leave) + coef_of(use.row, enter);
            if (after > rows_[static_cast<size_t>(use.row)].upper) return false;
        }
    }
    return true;
}

std::vector<Index> SideRows::build(Fixes fix, const std::vector<Index>& order, Index k, bool& found) const {
    auto inside = [](const Fixes& state) { return (state.array() > 0).count(); };
    found = propagate(fix) && inside(fix) <= k;
    if (!found) return {};
    // Twice: a column that comes too early for a row may be allowed after another one.
    for (int pass = 0; pass < 2; ++pass)
        for (const Index j : order) {
            if (fix[j] != 0) continue;
            Fixes trial = fix;
            trial[j] = 1;
            if (propagate(trial) && inside(trial) <= k) fix = std::move(trial);
        }
    std::vector<Index> support;
    for (Index j = 0; j < fix.size(); ++j)
        if (fix[j] > 0) support.push_back(j);
    found = allow(support);
    return support;
}

}  // namespace parsifal
