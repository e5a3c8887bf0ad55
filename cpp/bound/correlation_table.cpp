#include "bound/correlation_table.hpp"

#include <algorithm>
#include <cmath>

#include "bound/largest.hpp"

namespace parsifal {

CorrelationTable::CorrelationTable(const Quadratic& q, const Alarm& alarm)
    : q_(q), ridge_(std::isfinite(q.gamma) ? 1 / q.gamma : 0), scale_(q.size()) {
    const Index m = q.size();
    const Rounding& rounding = q.rounding;
    // y from the reference point: y'y = 2 LS(0), X'y = beta(0), with their errors (rounding.hpp).
    VectorXd beta;
    const VectorXd zero = VectorXd::Zero(m);
    q.gradient(zero, beta);
    yy_ = std::max(0.0, 2 * q.least_squares(zero, beta));
    b_ = beta;
    double excess = 1, reach = rounding.reach;  // how much longer than itself a column counts in its errors
    for (Index j = 0; j < m; ++j) {
        const double square = q.gram(j, j) + ridge_;
        scale_[j] = square > 0 ? 1 / std::sqrt(square) : 0;
        b_[j] *= scale_[j];
        if (rounding.norm.size() == 0) continue;
        reach += std::abs(q.v0[j]) * rounding.norm[j];
        excess = std::max(excess, scale_[j] * rounding.norm[j]);
    }
    const double own = 2.02 * static_cast<double>(std::min(q.k, m) + 16) * unit_roundoff;
    const double relative = rounding.error + rounding.unit_for(m) * reach;
    const double of_square = 2 * (rounding.base + rounding.drift * reach + 2 * relative * reach);
    unit_ = own + excess * excess * rounding.unit_for(8);
    if (yy_ > 0) {
        unit_ = std::max(unit_, own + excess * relative / std::sqrt(yy_));
        unit_ = std::max(unit_, own + of_square / yy_);
    }
    sort_correlations(alarm);
}

SignedFit CorrelationTable::signed_fit(const std::vector<Index>& columns) const {
    const auto k = static_cast<Index>(columns.size());
    MatrixXd gram(k, k);
    VectorXd b(k);
    std::vector<signed char> sign;
    for (Index i = 0; i < k; ++i) {
        const Index column = columns[static_cast<size_t>(i)];
        for (Index j = 0; j < k; ++j) {
            const Index other = columns[static_cast<size_t>(j)];
            gram(i, j) = q_.gram(other, column) * scale_[column] * scale_[other];
        }
        gram(i, i) = scale_[column] > 0 ? 1 : 0;
        b[i] = b_[column];
        sign.push_back(q_.rules ? q_.rules->sign[static_cast<size_t>(column)] : static_cast<signed char>(0));
    }
    return parsifal::signed_fit(gram, b, yy_, sign, unit_);
}

void CorrelationTable::sort_correlations(const Alarm& alarm) {
    const Index m = size(), kept = most_room - 1;
    largest_ = MatrixXd::Zero(levels * kept, m);
    neighbours_.resize(static_cast<size_t>(m));
    // For each column the largest in every band between two limits, and all above the last limit.
    std::vector<std::vector<double>> store(levels);
    std::vector<Index> count(levels, 0);
    const double last = limit[levels - 1];
    for (Index j = 0; j < m; ++j) {
        if (j % 64 == 0) alarm.check();
        if (scale_[j] == 0) continue;
        std::vector<Largest> top;
        top.reserve(levels);
        for (auto& band : store) top.emplace_back(band, kept);
        auto& near = neighbours_[static_cast<size_t>(j)];
        const double* column = gram(j);
        for (Index i = 0; i < m; ++i) {
            if (i == j) continue;
            const double cosine = std::abs(column[i]) * scale_[i] * scale_[j];
            if (cosine <= last) {
                top[levels - 1].add(cosine);
                continue;
            }
            Index band = 0;
            while (cosine <= limit[band + 1]) ++band;
            top[static_cast<size_t>(band)].add(cosine);
            for (Index level = band + 1; level < levels; ++level) ++count[static_cast<size_t>(level)];
            near.push_back({i, cosine});
            nearest_ = std::max(nearest_, cosine);
        }
        if (near.empty() && m > 1) nearest_ = std::max(nearest_, store[levels - 1][0]);
        std::sort(near.begin(), near.end(), [](const Neighbour& x, const Neighbour& y) { return x.cosine > y.cosine; });
        std::vector<double> merged(static_cast<size_t>(kept));
        Largest all(merged, kept);
        for (Index level = levels - 1; level >= 0; --level) {
            for (const double x : store[static_cast<size_t>(level)]) all.add(x);
            double sum = 0;
            for (Index t = 0; t < kept; ++t) largest_(level * kept + t, j) = sum += merged[static_cast<size_t>(t)];
        }
    }
    for (Index level = 1; level < levels; ++level) {
        if (count[static_cast<size_t>(level)] <= 24 * m) finest_ = level;
        if (count[static_cast<size_t>(level)] <= 4 * m) pair_level_ = level;
    }
    for (auto& near : neighbours_) {
        while (!near.empty() && near.back().cosine <= limit[finest_]) near.pop_back();
        near.shrink_to_fit();
    }
}

}  // namespace parsifal
