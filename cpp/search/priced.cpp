#include "search/priced.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace parsifal {

namespace {

// The working set begins with the columns above this part of the threshold.
constexpr double in_working_set = 0.85;
constexpr int most_passes = 20;
// Of columns that have to be read.
constexpr Index entries_at_once = 1 << 18;

}  // namespace

PricedSolver::PricedSolver(const HeldColumns& held, const std::vector<Index>& columns, const Alarm& alarm)
    : held_(held),
      columns_(columns),
      terms_(held.take(columns)),
      alarm_(alarm),
      norm_(held.norm()(columns)),
      y_norm_(held.y().norm()) {
    v_.setZero(size());
    s_.setZero(size());
}

std::vector<Index> PricedSolver::held(std::span<const Index> positions) const {
    std::vector<Index> out(positions.size());
    for (size_t a = 0; a < positions.size(); ++a) out[a] = columns_[static_cast<size_t>(positions[a])];
    return out;
}

VectorXd PricedSolver::residual(const VectorXd& v) const {
    std::vector<Index> positions;
    for (Index a = 0; a < v.size(); ++a)
        if (v[a] != 0) positions.push_back(a);
    return held_.residual(held(positions), v(positions));
}

void PricedSolver::spread(const VectorXd& from, VectorXd& to) const {
    to.setZero(size());
    to(work_.columns) = from;
}

// ---- Prices

void PricedSolver::compute(Point& point, std::span<const Index> positions) const {
    products_.resize(positions.size());
    held_.products(held(positions), point.alpha, products_.data());
    const double error = held_.unit() * point.alpha.norm();
    for (size_t a = 0; a < positions.size(); ++a) {
        const Index j = positions[a];
        point.beta[j] = terms_.rules ? terms_.rules->lengthened(j, products_[a], error * norm_[j])
                                     : products_[a] + std::copysign(error * norm_[j], products_[a]);
        point.known[static_cast<size_t>(j)] = 1;
    }
}

void PricedSolver::compute_in_time(Point& point, std::span<const Index> positions) const {
    if (held_.in_memory()) return compute(point, positions);
    const auto step = static_cast<size_t>(std::max<Index>(1, entries_at_once / held_.y().size()));
    for (size_t start = 0; start < positions.size() && !alarm_.rings(); start += step)
        compute(point, positions.subspan(start, std::min(step, positions.size() - start)));
}

void PricedSolver::begin(Point& point, const std::vector<Index>& first) const {
    point.alpha = residual(point.v);
    point.known.assign(static_cast<size_t>(size()), 0);
    point.beta.resize(size());
    point.error.setZero(size());
    compute(point, first);
}

void PricedSolver::price(Point& point, double least) {
    std::vector<Index> rest, close;
    for (Index j = 0; j < size(); ++j)
        if (!point.known[static_cast<size_t>(j)]) rest.push_back(j);
    looks_.resize(rest.size());
    held_.coarse().look(held(rest), point.alpha.data(), looks_.data());
    for (size_t a = 0; a < rest.size(); ++a) {
        const Index j = rest[a];
        point.beta[j] = looks_[a].centre + looks_[a].error;
        point.error[j] = looks_[a].error;
        // What bounds |beta_j| bounds it on the side of its sign, too.
        if (terms_.rules && terms_.rules->sign[static_cast<size_t>(j)] < 0) point.beta[j] = -point.beta[j];
        // Written so that what is no number is computed.
        if (!(terms_.magnitude(j, point.beta[j]) < least)) close.push_back(j);
    }
    compute_in_time(point, close);
}

// The smallest |beta_j| that the best completion takes, among these columns.
double PricedSolver::threshold(const Point& point, const std::vector<Index>& positions, const Fixes& fix) {
    return dual_threshold(VectorXd(point.beta(positions)), fix(positions), held_.room(fix),
                          terms_.rules ? terms_.take(positions) : terms_, scratch_);
}

// For any alpha D(alpha) = y'alpha - 1/2 |alpha|^2 - (what the best completion takes); less all that rounding can be
// worth.
double PricedSolver::bound_of(const Point& point, const Fixes& fix) {
    const double fit = held_.y().dot(point.alpha), square = 0.5 * point.alpha.squaredNorm();
    const DualChoice choice = choose(point.beta, fix, terms_, scratch_);
    const double error = held_.unit() * (y_norm_ * std::sqrt(2 * square) + square);
    return fit - square - choice.taken - error -
           rounding_of_sums(point.beta, fix, terms_, std::abs(fit) + square + std::abs(choice.taken));
}

Index PricedSolver::fix_columns(Fixes& fix, double bound, double cutoff) {
    DualChoice choice = choose(best_.beta, fix, terms_, scratch_);
    // Columns that are out if their true beta is small enough, and not by what is known of it.
    const double most = choice.last_in - (cutoff - bound);
    if (bound <= cutoff && std::isfinite(most) &&
        most > -(terms_.rules ? terms_.rules->largest_price() : terms_.lambda)) {
        std::vector<Index> doubtful;
        for (Index j = 0; j < size(); ++j)
            if (fix[j] == 0 && !best_.known[static_cast<size_t>(j)] && !(terms_.gain(j, best_.beta[j]) < most) &&
                terms_.gain(j, std::copysign(std::max(0.0, std::abs(best_.beta[j]) - 2 * best_.error[j]),
                                             best_.beta[j])) < most)
                doubtful.push_back(j);
        compute_in_time(best_, doubtful);
        if (!doubtful.empty()) choice = choose(best_.beta, fix, terms_, scratch_);
    }
    return parsifal::fix_columns(best_.beta, bound, cutoff, choice, terms_, fix);
}

// ---- Relaxations

void PricedSolver::focus(const Fixes& fix, const VectorXd& v) {
    Point& here = point_;
    here.v = v;
    // What is in, or was in the last working set, gives a first idea of the threshold.
    std::vector<Index> first;
    for (Index a = 0; a < size(); ++a)
        if (fix[a] > 0 || v[a] != 0) first.push_back(a);
    std::vector<Index> likely;
    std::set_union(first.begin(), first.end(), work_.columns.begin(), work_.columns.end(), std::back_inserter(likely));
    begin(here, likely);
    price(here, in_working_set * threshold(here, likely, fix));
    std::vector<Index> known;
    for (Index a = 0; a < size(); ++a)
        if (here.known[static_cast<size_t>(a)]) known.push_back(a);
    const double least = in_working_set * threshold(here, known, fix);
    std::vector<Index> columns;
    for (const Index a : known)
        if (fix[a] > 0 || v[a] != 0 || (fix[a] == 0 && terms_.magnitude(a, here.beta[a]) >= least))
            columns.push_back(a);
    gather(std::move(columns), here);
    focused_ = true;
}

// The working set's own problem, around a point whose beta is known on it.
void PricedSolver::gather(std::vector<Index> columns, const Point& around) {
    WorkingSet& w = work_;
    w.relaxation.reset();
    w.quadratic.reset();
    w.columns = std::move(columns);
    const auto count = static_cast<Index>(w.columns.size());
    if (w.gram.size() < static_cast<size_t>(count * count)) w.gram.resize(static_cast<size_t>(count * count));
    Eigen::Map<MatrixXd> gram(w.gram.data(), count, count);
    held_.among(held(w.columns), gram);
    w.v0 = around.v(w.columns);
    w.beta0 = around.beta(w.columns);
    w.ls = 0.5 * around.alpha.squaredNorm();
    w.quadratic = std::make_unique<Quadratic>(Quadratic{terms_.take(w.columns), gram, w.v0, w.beta0, w.ls, {}});
    w.relaxation = std::make_unique<Relaxation>(*w.quadratic, alarm_);
}

// Free columns outside the working set that are above its threshold, the largest ones if they are many.
std::vector<Index> PricedSolver::missing(const Point& point, const Fixes& fix, double tau) const {
    const double least = (1 + 1e-6) * tau;
    std::vector<Index> above, found;
    for (Index a = 0; a < size(); ++a)
        if (fix[a] == 0 && point.known[static_cast<size_t>(a)] && terms_.magnitude(a, point.beta[a]) > least)
            above.push_back(a);
    std::set_difference(above.begin(), above.end(), work_.columns.begin(), work_.columns.end(),
                        std::back_inserter(found));
    const size_t most = 100 + work_.columns.size() / 2;
    if (found.size() > most) {
        std::nth_element(
            found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most), found.end(),
            [&](Index a, Index b) { return terms_.magnitude(a, point.beta[a]) > terms_.magnitude(b, point.beta[b]); });
        found.resize(most);
        std::sort(found.begin(), found.end());
    }
    return found;
}

RelaxationResult PricedSolver::relax(const Fixes& fix, const VectorXd& start, const Aim& aim) {
    if (!focused_) {
        focus(fix, start);
        focused_ = false;
    }
    Aim within = aim;
    within.slack *= 0.5;
    RelaxationResult result;
    VectorXd from = start(work_.columns);
    for (int pass = 0;; ++pass) {
        Relaxation& relaxation = *work_.relaxation;
        const Fixes near = fix(work_.columns);
        const VectorXd anchor = start(work_.columns);
        const RelaxationResult r = relaxation.solve(near, from, within, &anchor);
        result.solves += r.solves;
        result.primal = r.primal;
        result.theta = r.theta;
        spread(relaxation.best_v(), point_.v);
        begin(point_, work_.columns);
        const double tau = threshold(point_, work_.columns, fix);
        price(point_, tau);
        const double bound = bound_of(point_, fix);
        const std::vector<Index> lacking = missing(point_, fix, tau);
        if (bound > result.bound || pass == 0) {
            result.bound = bound;
            best_ = point_;
        }
        result.stop = r.stop == Stop::cutoff ? Stop::stalled : r.stop;
        if (result.bound > aim.cutoff) {
            result.stop = Stop::cutoff;
            break;
        }
        const double enough =
            aim.slack > 0 ? std::max(aim.tolerance, aim.slack * (aim.cutoff - r.primal)) : aim.tolerance;
        if (r.primal - result.bound <= enough) {
            result.stop = Stop::converged;
            break;
        }
        if (lacking.empty() || pass >= most_passes || alarm_.rings()) break;
        VectorXd last;
        spread(relaxation.v(), last);
        std::vector<Index> wider;
        std::set_union(work_.columns.begin(), work_.columns.end(), lacking.begin(), lacking.end(),
                       std::back_inserter(wider));
        gather(std::move(wider), point_);
        from = last(work_.columns);
    }
    spread(work_.relaxation->v(), v_);
    spread(work_.relaxation->s(), s_);
    return result;
}

// ---- Supports

double PricedSolver::value_of(const std::vector<Index>& support) {
    if (!local_) local_ = std::make_unique<LocalSearch>(held_, alarm_);
    return local_->value_of(held(support));
}

// On the working set, where all products are at hand; what is better than anything before is worth a search over all
// columns.
double PricedSolver::improve(const Fixes& fix, std::vector<Index>& support, int max_moves) {
    std::vector<Index> near;
    for (const Index a : support) {
        const auto found = std::lower_bound(work_.columns.begin(), work_.columns.end(), a);
        if (found == work_.columns.end() || *found != a) return value_of(support);
        near.push_back(found - work_.columns.begin());
    }
    const GramSurvivors survivors(*work_.quadratic);
    LocalSearch(survivors, alarm_).improve(fix(work_.columns), near, max_moves);
    for (size_t a = 0; a < near.size(); ++a) near[a] = work_.columns[static_cast<size_t>(near[a])];
    std::sort(near.begin(), near.end());
    support = near;
    const double value = value_of(support);
    if (!(value < polished_) || !held_.in_memory()) return value;
    polished_ = value;
    Fixes whole = Fixes::Constant(held_.size(), -1);
    for (Index a = 0; a < size(); ++a) whole[columns_[static_cast<size_t>(a)]] = fix[a];
    std::vector<Index> everywhere = held(support);
    const double better = local_->improve(whole, everywhere, max_moves);
    std::sort(everywhere.begin(), everywhere.end());
    support.clear();
    for (const Index j : everywhere)
        support.push_back(std::lower_bound(columns_.begin(), columns_.end(), j) - columns_.begin());
    return better;
}

}  // namespace parsifal
