// The dual value's selection, safe fixing and tightening. Arrays are read in place where their layout allows.
#include "bound/dual.hpp"

#include <nanobind/eigen/dense.h>

#include "bindings.hpp"
#include "bound/tighten.hpp"
#include "listen.hpp"
#include "quadratic.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace parsifal;

void bind_dual(nb::module_& m) {
    m.def(
        "choose",
        [](ConstVector beta, ConstFix fix, double gamma, double penalty, Index k, const HeldRules* rules) {
            std::vector<double> scratch;
            DualChoice c;
            const Terms terms{gamma, penalty, k, rules_of(rules, beta.size())};
            {
                nb::gil_scoped_release release;
                c = choose(beta, fix, terms, scratch);
            }
            return nb::make_tuple(c.taken, c.last_in, c.best_out);
        },
        "beta"_a, "fix"_a, nb::kw_only(), "gamma"_a, "penalty"_a, "k"_a, "rules"_a = nb::none(),
        "What the best completion takes off the dual value, and the two thresholds of safe fixing.");

    m.def(
        "fix_columns",
        [](ConstVector beta, ConstFix fix, double bound, double cutoff, double gamma, double penalty, Index k,
           const HeldRules* rules) {
            Fixes result = fix;
            Index count;
            const Terms terms{gamma, penalty, k, rules_of(rules, beta.size())};
            {
                nb::gil_scoped_release release;
                std::vector<double> scratch;
                const DualChoice c = choose(beta, fix, terms, scratch);
                count = fix_columns(beta, bound, cutoff, c, terms, result);
            }
            return nb::make_tuple(result, count);
        },
        "beta"_a, "fix"_a, nb::kw_only(), "bound"_a, "cutoff"_a, "gamma"_a, "penalty"_a, "k"_a, "rules"_a = nb::none(),
        "Safe fixing: the new fixes and how many (-1: no solution below the cutoff exists).");

    m.def(
        "tightening",
        [](ConstMatrix gram, ConstVector weight, int max_newton, double unit, double gamma, double seconds) {
            const Alarm alarm(seconds, listen);
            nb::gil_scoped_release release;
            return tightening(gram, weight, max_newton, unit, gamma, alarm);
        },
        "gram"_a, "weight"_a, nb::kw_only(), "max_newton"_a, "unit"_a, "gamma"_a, "seconds"_a = INFINITY,
        "A diagonal d with gram - diag(d) positive semidefinite beyond rounding that makes weight'd large.");
}
