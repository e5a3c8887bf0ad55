#include "bound/held_columns.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <utility>

namespace parsifal {

// ---- Products of few columns

ProductCache::ProductCache(const ColumnStore& store, double bytes)
    : store_(store),
      bytes_left_(bytes),
      place_(static_cast<size_t>(store.columns())),
      row_(static_cast<size_t>(store.columns())) {
    for (auto& place : place_) place = -1;
    // Readers look at places that were given out before: the vector must not move.
    order_.resize(static_cast<size_t>(store.columns()));
}

ProductCache::~ProductCache() {
    for (const auto& row : row_) delete[] row.load();
}

void ProductCache::admit(const std::vector<Index>& columns) {
    std::vector<std::pair<int, Index>> fresh;
    {
        std::lock_guard lock(mutex_);
        for (const Index j : columns) {
            if (place_[static_cast<size_t>(j)] >= 0 || bytes_left_ < 8.0 * (count_ + 1)) continue;
            bytes_left_ -= 8.0 * (count_ + 1);
            order_[static_cast<size_t>(count_)] = j;
            place_[static_cast<size_t>(j)] = count_;
            fresh.emplace_back(count_++, j);
        }
    }
    VectorXd column(store_.rows());
    for (const auto& [place, j] : fresh) {
        const auto size = static_cast<size_t>(place) + 1;
        auto row = std::make_unique<double[]>(size);
        store_.unpack(j, column.data());
        store_.products({order_.data(), size}, column.data(), row.get());
        row_[static_cast<size_t>(place)].store(row.release(), std::memory_order_release);
    }
}

MatrixXd ProductCache::among(const std::vector<Index>& columns) {
    admit(columns);
    // By place, those without one last: then a row holds all that come before its own.
    std::vector<std::pair<int, Index>> order(columns.size());
    for (size_t a = 0; a < columns.size(); ++a) {
        const int place = place_[static_cast<size_t>(columns[a])];
        order[a] = {place < 0 ? INT_MAX : place, static_cast<Index>(a)};
    }
    std::sort(order.begin(), order.end());
    std::vector<Index> before;
    VectorXd column(store_.rows()), computed(static_cast<Index>(columns.size()));
    MatrixXd out(static_cast<Index>(columns.size()), static_cast<Index>(columns.size()));
    for (size_t a = 0; a < order.size(); ++a) {
        const auto [place, at] = order[a];
        before.push_back(columns[static_cast<size_t>(at)]);
        const double* row =
            place == INT_MAX ? nullptr : row_[static_cast<size_t>(place)].load(std::memory_order_acquire);
        if (!row) {
            store_.unpack(before.back(), column.data());
            store_.products(before, column.data(), computed.data());
        }
        for (size_t b = 0; b <= a; ++b) {
            const auto& [earlier, to] = order[b];
            out(to, at) = out(at, to) = row ? row[earlier] : computed[static_cast<Index>(b)];
        }
    }
    return out;
}

// ---- All columns

HeldColumns::HeldColumns(const Terms& terms, const ColumnStore& store, const ConstVector& y, double cache)
    : Survivors(terms),
      store_(store),
      coarse_(store.rows(), store.columns()),
      y_(y),
      unit_(1.01 * static_cast<double>(store.rows() + 8) * unit_roundoff),
      squares_(store.columns()),
      origin_(store.columns()),
      products_(store_, 0.5 * cache),
      most_columns_(static_cast<size_t>(std::max(2.0, 0.5 * cache / (8.0 * static_cast<double>(store.columns()))))) {
    store_.stream([&](Index j, const double* x) {
        const Eigen::Map<const VectorXd> column(x, store_.rows());
        squares_[j] = column.squaredNorm();
        origin_[j] = column.dot(y_);
        coarse_.set(j, x);
    });
    norm_ = squares_.cwiseSqrt() * (1 + unit_);
}

GramColumn HeldColumns::column(Index j) const {
    {
        std::lock_guard lock(mutex_);
        if (const auto found = where_.find(j); found != where_.end()) {
            latest_.splice(latest_.begin(), latest_, found->second);
            return found->second->products;
        }
    }
    VectorXd x(store_.rows());
    store_.unpack(j, x.data());
    const std::shared_ptr<double[]> fresh(new double[static_cast<size_t>(size())]);
    std::vector<Index> all(static_cast<size_t>(size()));
    std::iota(all.begin(), all.end(), Index{0});
    store_.products(all, x.data(), fresh.get());
    const GramColumn products(fresh, fresh.get());
    std::lock_guard lock(mutex_);
    if (where_.contains(j)) return products;
    latest_.push_front({j, products});
    where_[j] = latest_.begin();
    if (latest_.size() > most_columns_) {
        where_.erase(latest_.back().column);
        latest_.pop_back();
    }
    return products;
}

VectorXd HeldColumns::residual(const std::vector<Index>& columns, const ConstVector& w) const {
    VectorXd alpha = y_;
    for (size_t a = 0; a < columns.size(); ++a)
        if (w[static_cast<Index>(a)] != 0) store_.add(columns[a], -w[static_cast<Index>(a)], alpha.data());
    return alpha;
}

void HeldColumns::products(const std::vector<Index>& columns, const VectorXd& v, double* out) const {
    store_.products(columns, v.data(), out);
}

double HeldColumns::least_squares(const std::vector<Index>& support, const ConstVector& w) const {
    return 0.5 * residual(support, w).squaredNorm();
}

Surroundings HeldColumns::around(const std::vector<Index>& columns, const ConstVector& w) const {
    const VectorXd alpha = residual(columns, w);
    const double reach = alpha.norm(), norms = w.cwiseAbs().dot(norm_(columns));
    Surroundings here;
    here.ls = 0.5 * alpha.squaredNorm();
    here.beta.resize(static_cast<Index>(columns.size()));
    products(columns, alpha, here.beta.data());
    here.rounding = rounding(reach, (w.array() != 0).count(), norms);
    here.rounding.norm = norm_(columns);
    return here;
}

Rounding HeldColumns::rounding(double reach, Index terms, double norms) const {
    Rounding r;
    r.unit = unit_;
    r.error = unit_ * reach;
    r.base = unit_ * reach * reach;
    r.drift = Rounding().unit_for(terms) * (y_.norm() + norms);
    r.reach = reach;
    return r;
}

}  // namespace parsifal
