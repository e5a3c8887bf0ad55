#include "bound/held_columns.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <utility>

namespace parsifal {

namespace {

constexpr size_t unpacked_at_once = 64;

}  // namespace

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
    // By blocks: of new columns, so that few are unpacked at a time, and of earlier ones, which stay in the cache.
    for (size_t start = 0; start < fresh.size(); start += unpacked_at_once)
        fill({fresh.data() + start, std::min(unpacked_at_once, fresh.size() - start)});
}

void ProductCache::fill(std::span<const std::pair<int, Index>> fresh) {
    const Index rows = store_.rows();
    std::vector<Index> columns;
    std::vector<std::unique_ptr<double[]>> filled;
    for (const auto& [place, j] : fresh) {
        columns.push_back(j);
        filled.push_back(std::make_unique<double[]>(static_cast<size_t>(place) + 1));
    }
    MatrixXd x(rows, static_cast<Index>(fresh.size())), earlier, products;
    store_.unpack(columns, x.data());
    const int last = fresh.back().first;
    for (int start = 0; start <= last; start += static_cast<int>(unpacked_at_once)) {
        const int stop = std::min(last + 1, start + static_cast<int>(unpacked_at_once));
        earlier.resize(rows, stop - start);
        store_.unpack({order_.data() + start, static_cast<size_t>(stop - start)}, earlier.data());
        products.resize(stop - start, x.cols());
        multiply_transposed(earlier, x, products);
        for (size_t c = 0; c < fresh.size(); ++c)
            for (int place = start; place < std::min(stop, fresh[c].first + 1); ++place)
                filled[c][static_cast<size_t>(place)] = products(place - start, static_cast<Index>(c));
    }
    for (size_t c = 0; c < fresh.size(); ++c)
        row_[static_cast<size_t>(fresh[c].first)].store(filled[c].release(), std::memory_order_release);
}

void ProductCache::among(const std::vector<Index>& columns, Eigen::Ref<MatrixXd> out) {
    admit(columns);
    // By place, those without one last: then a row holds all that come before its own.
    std::vector<std::pair<int, Index>> order(columns.size());
    for (size_t a = 0; a < columns.size(); ++a) {
        const int place = place_[static_cast<size_t>(columns[a])];
        order[a] = {place < 0 ? INT_MAX : place, static_cast<Index>(a)};
    }
    std::sort(order.begin(), order.end());
    std::vector<Index> lacking;
    for (size_t a = 0; a < order.size(); ++a) {
        const auto [place, at] = order[a];
        const double* row =
            place == INT_MAX ? nullptr : row_[static_cast<size_t>(place)].load(std::memory_order_acquire);
        if (!row) {
            lacking.push_back(at);
            continue;
        }
        for (size_t b = 0; b <= a; ++b) {
            const auto& [earlier, to] = order[b];
            out(to, at) = out(at, to) = row[earlier];
        }
    }
    if (lacking.empty()) return;
    MatrixXd x(store_.rows(), static_cast<Index>(columns.size()));
    store_.unpack(columns, x.data());
    MatrixXd computed(x.cols(), static_cast<Index>(lacking.size()));
    multiply_transposed(x, MatrixXd(x(Eigen::all, lacking)), computed);
    for (size_t b = 0; b < lacking.size(); ++b) {
        out.col(lacking[b]) = computed.col(static_cast<Index>(b));
        out.row(lacking[b]) = computed.col(static_cast<Index>(b)).transpose();
    }
}

// ---- All columns

HeldColumns::HeldColumns(const Terms& terms, const ColumnStore& store, const ConstVector& y, double cache,
                         CoarseColumns coarse)
    : Survivors(terms),
      store_(store),
      coarse_(std::move(coarse)),
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
    store_.unpack({&j, 1}, x.data());
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
    std::vector<Index> used;
    std::vector<double> factor;
    for (size_t a = 0; a < columns.size(); ++a)
        if (w[static_cast<Index>(a)] != 0) {
            used.push_back(columns[a]);
            factor.push_back(-w[static_cast<Index>(a)]);
        }
    VectorXd alpha = y_;
    store_.add(used, factor.data(), alpha.data());
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
