#include "bound/threshold.hpp"

#include <algorithm>
#include <cmath>

namespace parsifal {

namespace {

// sum of s at theta, and its slope; lanes so that the compiler may vectorise without reordering sums.
double total(const ConstVector& magnitude, const ConstVector& sigma, double inverse_gamma, double theta,
             double& slope) {
    constexpr Index lanes = 8;
    double sum[lanes] = {}, rise[lanes] = {};
    const Index m = magnitude.size(), blocked = m - m % lanes;
    const double* a = magnitude.data();
    const double* b = sigma.data();
    auto add = [&](Index j, Index lane) {
        const double s = (theta * a[j] - b[j]) * inverse_gamma;
        const double clipped = std::min(std::max(s, 0.0), 1.0);
        sum[lane] += clipped;
        rise[lane] += s == clipped ? a[j] : 0.0;
    };
    for (Index j = 0; j < blocked; j += lanes)
        for (Index lane = 0; lane < lanes; ++lane) add(j + lane, lane);
    for (Index j = blocked; j < m; ++j) add(j, j - blocked);
    double value = 0;
    slope = 0;
    for (Index lane = 0; lane < lanes; ++lane) {
        value += sum[lane];
        slope += rise[lane];
    }
    slope *= inverse_gamma;
    return value;
}

}  // namespace

Threshold solve_threshold(const ConstVector& magnitude, const ConstVector& sigma, const Terms& terms, Index room,
                          double start) {
    const double gamma = terms.gamma, inverse_gamma = 1 / gamma, theta_max = terms.inverse_no_gain();
    const auto limit = static_cast<double>(room);
    double slope = 0;
    if (theta_max < INFINITY) {
        if (total(magnitude, sigma, inverse_gamma, theta_max, slope) <= limit) return {theta_max, false};
    } else if ((magnitude.array() > 0).count() <= room) {
        return {INFINITY, false};
    }
    if (room <= 0) return {0, true};

    double theta = start;
    if (!(theta > 0 && theta < theta_max)) {
        // The first column to reach s = 1 does so at (sigma + gamma) / |z|: a safe place to start.
        theta = theta_max;
        for (Index j = 0; j < magnitude.size(); ++j)
            if (magnitude[j] > 0) theta = std::min(theta, (sigma[j] + gamma) / magnitude[j]);
    }
    // The sum is continuous, nondecreasing and piecewise linear in theta: Newton inside a bracket, with a bisection
    // now and then against slow progress. A Newton step that stays in its linear piece is exact.
    double low = 0, high = theta_max;
    for (int iteration = 1; iteration < 300; ++iteration) {
        const double miss = limit - total(magnitude, sigma, inverse_gamma, theta, slope);
        if (std::abs(miss) <= 1e-14 * limit) break;
        (miss > 0 ? low : high) = theta;
        double next = slope > 0 && iteration % 6 != 0 ? theta + miss / slope : INFINITY;
        if (!(next > low && next < high)) next = high < INFINITY ? 0.5 * (low + high) : 2 * theta;
        if (!(next > low && next < high)) break;
        theta = next;
    }
    return {theta, true};
}

PricedThreshold solve_priced_threshold(const ConstVector& magnitude, const ConstVector& sigma, const Terms& terms,
                                       Index room, double start, VectorXd& theta) {
    const Index m = magnitude.size();
    const double gamma = terms.gamma;
    theta.resize(m);
    double slope = 0;
    // The sum of s at mu, and its slope: decreasing, and convex wherever no column reaches s = 1.
    auto total_at = [&](double mu) {
        double sum = 0;
        slope = 0;
        for (Index j = 0; j < m; ++j) {
            const double level = terms.price_of(j) + mu;
            theta[j] = level > 0 ? std::sqrt(gamma / (2 * level)) : INFINITY;
            const double s = fraction(magnitude[j], sigma[j], gamma, theta[j]);
            sum += s;
            if (s > 0 && s < 1) slope -= 0.5 * theta[j] * magnitude[j] / (gamma * level);
        }
        return sum;
    };
    const auto limit = static_cast<double>(room);
    if (total_at(0) <= limit) return {0, false};
    if (room <= 0) {
        theta.setZero();
        return {INFINITY, true};
    }
    double low = 0, high = INFINITY, mu = start;
    if (!(mu > 0 && mu < INFINITY)) {
        // Beyond this every s is zero.
        mu = 0;
        for (Index j = 0; j < m; ++j)
            if (magnitude[j] > 0) {
                const double least = sigma[j] > 0 ? 0.5 * gamma * magnitude[j] * magnitude[j] / (sigma[j] * sigma[j])
                                                  : 0.5 * magnitude[j] * magnitude[j] / gamma;
                mu = std::max(mu, least);
            }
        mu *= 0.1;
    }
    for (int iteration = 1; iteration < 300; ++iteration) {
        const double miss = total_at(mu) - limit;
        if (std::abs(miss) <= 1e-14 * limit) break;
        (miss > 0 ? low : high) = mu;
        double next = slope < 0 && iteration % 6 != 0 ? mu - miss / slope : -1.0;
        if (!(next > low && next < high)) next = high < INFINITY ? 0.5 * (low + high) : 2 * mu + 1e-300;
        if (!(next > low && next < high)) break;
        mu = next;
    }
    return {mu, true};
}

}  // namespace parsifal
