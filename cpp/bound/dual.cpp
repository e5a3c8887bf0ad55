#include "bound/dual.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace parsifal {

namespace {

// `gain(j)` is a_j. A template, so that columns that are all alike cost no look at their rules.
template <class Gain>
DualChoice choose_by(const ConstFix& fix, Index k, Gain gain, std::vector<double>& scratch) {
    DualChoice c;
    scratch.clear();
    Index room = k;
    // No more than the k + 1 largest matter: now and then the others are dropped, and what is below them passed over.
    const size_t most = static_cast<size_t>(k) + 1, full = 4 * most + 1024;
    double floor = 0;
    for (Index j = 0; j < fix.size(); ++j) {
        const double a = gain(j);
        if (fix[j] == 0) {
            if (a <= floor) continue;
            if (std::isnan(a)) {
                c.taken = a;  // spoils the bound, as it should
                continue;
            }
            scratch.push_back(a);
            if (scratch.size() < full) continue;
            std::nth_element(scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(most - 1), scratch.end(),
                             std::greater<>());
            scratch.resize(most);
            floor = scratch.back();
        } else if (fix[j] > 0) {
            c.taken += a;
            --room;
        }
    }
    room = std::max<Index>(room, 0);
    const auto count = static_cast<Index>(scratch.size());
    if (room == 0) {
        if (count > 0) c.best_out = *std::max_element(scratch.begin(), scratch.end());
        c.last_in = INFINITY;  // no room at all: a free column cannot enter
        return c;
    }
    if (count > room) {
        const auto nth = scratch.begin() + (room - 1);
        std::nth_element(scratch.begin(), nth, scratch.end(), std::greater<>());
        c.last_in = *nth;
        c.best_out = *std::max_element(nth + 1, scratch.end());
        scratch.resize(static_cast<size_t>(room));
    } else if (count == room) {
        c.last_in = *std::min_element(scratch.begin(), scratch.end());
    }
    // Ascending order: the sum is then the same whatever order nth_element left, and most accurate.
    std::sort(scratch.begin(), scratch.end());
    for (const double a : scratch) c.taken += a;
    return c;
}

// The largest first, as long as their groups have room.
DualChoice choose_capped(const ConstVector& beta, const ConstFix& fix, const Terms& terms,
                         std::vector<double>& scratch) {
    const ColumnRules& rules = *terms.rules;
    DualChoice c;
    c.caps.resize(rules.most.size());
    std::vector<Index> left = rules.most;
    std::vector<std::pair<double, Index>> order;
    Index room = terms.k;
    for (Index j = 0; j < fix.size(); ++j) {
        if (fix[j] < 0) continue;
        const double a = terms.gain(j, beta[j]);
        const Index cap = rules.cap[static_cast<size_t>(j)];
        if (fix[j] > 0) {
            c.taken += a;
            --room;
            if (cap >= 0) --left[static_cast<size_t>(cap)];
        } else if (std::isnan(a)) {
            c.taken = a;  // spoils the bound, as it should
        } else if (a > 0) {
            order.emplace_back(a, cap);
        }
    }
    for (size_t g = 0; g < left.size(); ++g)
        if (left[g] <= 0) c.caps[g] = {true, INFINITY, 0};
    if (room <= 0) c.last_in = INFINITY;
    std::sort(order.begin(), order.end(), std::greater<>());
    scratch.clear();
    for (const auto& [a, cap] : order) {
        CapChoice* own = cap < 0 ? nullptr : &c.caps[static_cast<size_t>(cap)];
        if (own && own->full) {
            own->best_out = std::max(own->best_out, a);
        } else if (room <= 0) {
            c.best_out = std::max(c.best_out, a);
        } else {
            scratch.push_back(a);
            if (--room == 0) c.last_in = a;
            if (own && --left[static_cast<size_t>(cap)] == 0) *own = {true, a, 0};
        }
    }
    for (auto a = scratch.rbegin(); a != scratch.rend(); ++a) c.taken += *a;
    return c;
}

}  // namespace

DualChoice choose(const ConstVector& beta, const ConstFix& fix, const Terms& terms, std::vector<double>& scratch) {
    if (terms.rules && !terms.rules->most.empty()) return choose_capped(beta, fix, terms, scratch);
    if (terms.rules) return choose_by(fix, terms.k, [&](Index j) { return terms.gain(j, beta[j]); }, scratch);
    return choose_by(fix, terms.k, [&](Index j) { return terms.gain(beta[j]); }, scratch);
}

Index fix_columns(const ConstVector& beta, double bound, double cutoff, const DualChoice& choice, const Terms& terms,
                  Eigen::Ref<Fixes> fix) {
    if (bound > cutoff) return -1;
    Index room = terms.room(fix), fixed = 0;
    if (room < 0) return -1;
    for (Index j = 0; j < beta.size(); ++j) {
        if (fix[j] != 0) continue;
        const double a = terms.gain(j, beta[j]);
        // A column counts as chosen when it is above everything that was left out; at a tie neither rule can fire.
        const double last_in = choice.displaced(terms, j);
        const bool chosen = a > 0 && a >= last_in;
        if (!chosen && bound + last_in - a > cutoff) {
            fix[j] = -1;
            ++fixed;
        } else if (chosen && bound + a - choice.replacement(terms, j) > cutoff) {
            fix[j] = 1;
            ++fixed;
            --room;
        }
    }
    return room < 0 ? -1 : fixed;
}

double dual_threshold(const ConstVector& beta, const ConstFix& fix, Index room, const Terms& terms,
                      std::vector<double>& scratch) {
    scratch.clear();
    for (Index a = 0; a < beta.size(); ++a)
        if (fix[a] == 0) scratch.push_back(terms.magnitude(a, beta[a]));
    const double least = terms.no_gain();
    if (room <= 0) return INFINITY;
    if (static_cast<size_t>(room) >= scratch.size()) return least;
    std::nth_element(scratch.begin(), scratch.begin() + (room - 1), scratch.end(), std::greater<>());
    return std::max(least, scratch[static_cast<size_t>(room) - 1]);
}

double rounding_of_sums(const ConstVector& beta, const ConstFix& fix, const Terms& terms, double parts) {
    // a_j rounds relative to lambda where it is chosen, and hence about as large as lambda, or in.
    const auto chosen = static_cast<double>(std::min(terms.k, beta.size()));
    const double largest = beta.size() == 0 ? 0.0 : 0.5 * terms.gamma * beta.cwiseAbs2().maxCoeff();
    const double price = terms.rules ? terms.rules->largest_price() : terms.lambda;
    const double priced = static_cast<double>((fix.array() > 0).count()) * price + chosen * std::min(price, largest);
    return (chosen + 16) * unit_roundoff * (parts + 2 * priced);
}

Along best_along(const Quadratic& q, const ConstFix& fix, const ConstVector& v, const ConstVector& beta,
                 const ConstVector& d, const ConstVector& g, double enough,
                 std::vector<std::pair<double, double>>& scratch) {
    const auto most = static_cast<size_t>(std::max<Index>(q.room(fix), 0));
    // LS + v'beta is a parabola along the segment.
    const double curve = 0.5 * d.dot(g), rise = 0.5 * d.dot(beta - q.beta0) + 0.5 * (v + q.v0).dot(g);
    const double level = q.least_squares(v, beta) + v.dot(beta);
    // No more than the largest matter: now and then the others are dropped, and what is below them passed over.
    const size_t full = 4 * most + 32;
    double slope = 0;
    auto evaluate_by = [&]<bool ruled>(double t) {
        double taken = 0, climb = 0, floor = 0;
        auto keep = [&](double a, double c) {
            scratch.emplace_back(a, c);
            if (most == 0 || scratch.size() < full) return;
            std::nth_element(scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(most - 1), scratch.end(),
                             std::greater<>());
            scratch.resize(most);
            floor = scratch.back().first;
        };
        scratch.clear();
        for (Index j = 0; j < fix.size(); ++j) {
            if (fix[j] < 0) continue;
            // Spelt out for either kind: how products and sums are fused, and so the last bit, depends on it.
            if constexpr (ruled) {
                const double b = beta[j] + t * g[j], a = q.gain(j, b);
                const double own = q.rules->reach(j, b) == 0 ? 0.0 : b * g[j];
                if (fix[j] > 0) {
                    taken += a;
                    climb += own;
                } else if (a > floor) {
                    keep(a, own);
                }
            } else {
                const double b = beta[j] + t * g[j], a = q.gain(b);
                if (fix[j] > 0) {
                    taken += a;
                    climb += b * g[j];
                } else if (a > floor) {
                    keep(a, b * g[j]);
                }
            }
        }
        if (scratch.size() > most) {
            std::nth_element(scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(most), scratch.end(),
                             std::greater<>());
            scratch.resize(most);
        }
        for (const auto& [a, c] : scratch) {
            taken += a;
            climb += c;
        }
        slope = rise + 2 * t * curve - q.gamma * climb;
        return level + t * (rise + t * curve) - taken;
    };
    const bool ruled = static_cast<bool>(q.rules);
    auto evaluate = [&](double t) {
        return ruled ? evaluate_by.template operator()<true>(t) : evaluate_by.template operator()<false>(t);
    };
    Along best{0, evaluate(0)};
    if (!(slope > 0)) return best;
    double low = 0, high = 1, low_slope = slope, high_slope = 0;
    double t = 1;
    for (int evaluation = 0; evaluation < 9; ++evaluation) {
        const double value = evaluate(t);
        if (value > best.value) best = {t, value};
        if (value > enough || (t == 1 && slope >= 0)) break;
        (slope > 0 ? low : high) = t;
        (slope > 0 ? low_slope : high_slope) = slope;
        if (high - low < 0.05 * high) break;
        // The zero of the slope's chord, kept off the ends; in turn with halving, since D has kinks.
        const double chord = low_slope / (low_slope - high_slope);
        t = low + (high - low) * (evaluation % 2 == 0 ? std::clamp(chord, 0.1, 0.9) : 0.5);
    }
    return best;
}

}  // namespace parsifal
