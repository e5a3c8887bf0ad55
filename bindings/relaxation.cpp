// The reduced problem's verbs: relax, local search, fixing, tightening. Arrays are read in place where their layout
// allows (Fortran order, float64).
#include "relaxation.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "bindings.hpp"
#include "gram.hpp"
#include "listen.hpp"
#include "make_rounding.hpp"
#include "swap.hpp"
#include "tighten.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace parsifal;

namespace {

using Matrix = Eigen::Ref<const MatrixXd>;
using Vector = Eigen::Ref<const VectorXd>;
using Fixes = Eigen::Matrix<signed char, Eigen::Dynamic, 1>;

const char* name(Stop stop) {
    switch (stop) {
        case Stop::converged:
            return "converged";
        case Stop::cutoff:
            return "cutoff";
        default:
            return "stalled";
    }
}

}  // namespace

void bind_relaxation(nb::module_& m) {
    m.def(
        "gram",
        [](Matrix a, Matrix b, int threads, double seconds) {
            const Alarm alarm(seconds, listen);
            nb::gil_scoped_release release;
            return gram(a, b, Team{threads, alarm});
        },
        "a"_a, "b"_a, "threads"_a = 0, "seconds"_a = INFINITY, "a'b, without a BLAS.");

    m.def(
        "submatrix",
        [](Matrix a, const std::vector<Index>& keep, int threads, double seconds) {
            for (const Index j : keep)
                if (j < 0 || j >= std::min(a.rows(), a.cols())) throw std::invalid_argument("index out of range");
            const Alarm alarm(seconds, listen);
            nb::gil_scoped_release release;
            return submatrix(a, keep, Team{threads, alarm});
        },
        "a"_a, "keep"_a, "threads"_a = 0, "seconds"_a = INFINITY, "a[np.ix_(keep, keep)], in Fortran order.");

    m.def(
        "residual",
        [](Vector y, Matrix columns, Vector v) {
            nb::gil_scoped_release release;
            VectorXd r = y;
            for (Index j = 0; j < v.size(); ++j)
                if (v[j] != 0) r.noalias() -= v[j] * columns.col(j);
            return r;
        },
        "y"_a, "columns"_a, "v"_a, "y - columns v, skipping zeros.");

    m.def(
        "relax",
        [](Matrix gram, Vector v0, Vector beta0, double ls0, double gamma, double penalty, Index k, ConstFix fix,
           Vector start, double cutoff, double tolerance, int max_solves, Vector norm,
           const std::array<double, 5>& rounding, double seconds) {
            const Quadratic q{gram, v0, beta0, ls0, gamma, penalty, k, make_rounding(norm, rounding)};
            const Alarm alarm(seconds, listen);
            Relaxation relaxation(q, alarm);
            RelaxationResult r;
            {
                nb::gil_scoped_release release;
                r = relaxation.solve(fix, start, cutoff, tolerance, 0.0, max_solves);
            }
            nb::dict d;
            d["stop"] = name(r.stop);
            d["bound"] = r.bound;
            d["primal"] = r.primal;
            d["tau"] = 1 / r.theta;
            d["solves"] = r.solves;
            d["v"] = relaxation.v();
            d["beta"] = relaxation.beta();
            d["s"] = relaxation.s();
            d["best_v"] = relaxation.best_v();
            d["best_beta"] = relaxation.best_beta();
            return d;
        },
        "gram"_a, "v0"_a, "beta0"_a, "ls0"_a, "gamma"_a, "penalty"_a, "k"_a, "fix"_a, "start"_a, "cutoff"_a,
        "tolerance"_a, "max_solves"_a, "norm"_a, "rounding"_a, "seconds"_a = INFINITY,
        "Solve the relaxation of one node of the reduced problem.");

    m.def(
        "local_search",
        [](Matrix gram, Vector v0, Vector beta0, double ls0, double gamma, double penalty, Index k, ConstFix fix,
           std::vector<Index> support, bool greedy, int max_moves, double seconds) {
            const Quadratic q{gram, v0, beta0, ls0, gamma, penalty, k};
            double value;
            {
                const Alarm alarm(seconds, listen);
                nb::gil_scoped_release release;
                LocalSearch search(q, alarm);
                if (greedy) search.greedy(fix, support);
                value = search.improve(fix, support, max_moves);
            }
            return std::pair(support, value);
        },
        "gram"_a, "v0"_a, "beta0"_a, "ls0"_a, "gamma"_a, "penalty"_a, "k"_a, "fix"_a, "support"_a, "greedy"_a,
        "max_moves"_a, "seconds"_a = INFINITY,
        "Improve a support by additions, removals and swaps; greedy fills it first.");

    m.def(
        "restarts",
        [](Matrix gram, Vector v0, Vector beta0, double ls0, double gamma, double penalty, Index k, ConstFix fix,
           Vector s, int count, double seconds) {
            const Quadratic q{gram, v0, beta0, ls0, gamma, penalty, k};
            std::vector<Index> best;
            double value;
            {
                const Alarm alarm(seconds, listen);
                nb::gil_scoped_release release;
                value = LocalSearch(q, alarm).restarts(fix, s, count, best);
            }
            return std::pair(best, value);
        },
        "gram"_a, "v0"_a, "beta0"_a, "ls0"_a, "gamma"_a, "penalty"_a, "k"_a, "fix"_a, "s"_a, "count"_a,
        "seconds"_a = INFINITY, "Local search from random supports drawn from the columns with s > 0.");

    m.def(
        "choose",
        [](Vector beta, ConstFix fix, double gamma, double penalty, Index k) {
            std::vector<double> scratch;
            DualChoice c;
            {
                nb::gil_scoped_release release;
                c = choose(beta, fix, gamma, penalty, k, scratch);
            }
            return nb::make_tuple(c.taken, c.last_in, c.best_out);
        },
        "beta"_a, "fix"_a, "gamma"_a, "penalty"_a, "k"_a,
        "What the best completion takes off the dual value, and the two thresholds of safe fixing.");

    m.def(
        "fix_columns",
        [](Vector beta, double bound, double cutoff, ConstFix fix, double gamma, double penalty, Index k) {
            Fixes result = fix;
            Index count;
            {
                nb::gil_scoped_release release;
                std::vector<double> scratch;
                const DualChoice c = choose(beta, fix, gamma, penalty, k, scratch);
                count = fix_columns(beta, bound, cutoff, c, gamma, penalty, k, result);
            }
            return nb::make_tuple(result, count);
        },
        "beta"_a, "bound"_a, "cutoff"_a, "fix"_a, "gamma"_a, "penalty"_a, "k"_a,
        "Safe fixing: the new fixes and how many (-1: no solution below the cutoff exists).");

    m.def(
        "tightening",
        [](Matrix gram, Vector weight, int max_newton, double unit, double gamma, double seconds) {
            const Alarm alarm(seconds, listen);
            nb::gil_scoped_release release;
            return tightening(gram, weight, max_newton, unit, gamma, alarm);
        },
        "gram"_a, "weight"_a, "max_newton"_a, "unit"_a, "gamma"_a, "seconds"_a = INFINITY,
        "A diagonal d with gram - diag(d) positive semidefinite beyond rounding that makes weight'd large.");
}
