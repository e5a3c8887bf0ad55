// Groups of columns: their relaxation and their sets.
#include "groups.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings.hpp"
#include "listen.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace parsifal;

namespace {

void construct_groups(Groups* self, std::vector<Index> start, ConstVector price, Index k) {
    if (start.empty() || start[0] != 0 || static_cast<Index>(start.size()) != price.size() + 1 || k < 0)
        throw std::invalid_argument("start must begin with 0 and have one entry more than price");
    for (size_t g = 1; g < start.size(); ++g)
        if (start[g] < start[g - 1]) throw std::invalid_argument("start must not fall");
    new (self) Groups{std::move(start), std::move(price), k};
}

nb::dict relax_groups(const HeldQuadratic& q, const Groups& groups, ConstFix fix, ConstVector start, double cutoff,
                      double tolerance, double slack, int max_solves, double seconds) {
    require_one_a_group(fix, groups, "fix");
    require_one_a_group(start, groups, "start");
    const GroupedQuadratic problem = grouped(groups, q);
    const Alarm alarm(seconds, listen);
    GroupRelaxation relaxation(problem, alarm);
    RelaxationResult r;
    {
        nb::gil_scoped_release release;
        r = relaxation.solve(fix, start,
                             {.cutoff = cutoff, .tolerance = tolerance, .slack = slack, .max_solves = max_solves});
    }
    nb::dict d;
    d["bound"] = r.bound;
    d["primal"] = r.primal;
    d["solves"] = r.solves;
    d["s"] = relaxation.s();
    d["v"] = relaxation.best_v();
    d["gains"] = relaxation.best_gains();
    return d;
}

std::pair<std::vector<Index>, double> improve(const HeldQuadratic& q, const Groups& groups, const Fixes& fix,
                                              std::vector<Index> support, int max_moves, double seconds) {
    require_one_a_group(fix, groups, "fix");
    for (size_t i = 0; i < support.size(); ++i)
        if (support[i] < 0 || support[i] >= groups.size() || (i > 0 && support[i] <= support[i - 1]))
            throw std::invalid_argument("support must name groups in ascending order");
    const GroupedQuadratic problem = grouped(groups, q);
    const Alarm alarm(seconds, listen);
    nb::gil_scoped_release release;
    GroupSets sets(problem, alarm);
    const double value = sets.improve(fix, support, max_moves);
    return {std::move(support), value};
}

}  // namespace

void bind_groups(nb::module_& m) {
    nb::class_<Groups>(m, "Groups", "Columns start[g] .. start[g + 1] - 1 of a Quadratic are group g.")
        .def("__init__", &construct_groups, nb::kw_only(), "start"_a, "price"_a, "k"_a);
    m.def("relax_groups", &relax_groups, "quadratic"_a, "groups"_a, nb::kw_only(), "fix"_a, "start"_a, "cutoff"_a,
          "tolerance"_a, "slack"_a = 0.0, "max_solves"_a, "seconds"_a = INFINITY,
          "Solve the relaxation of one node of groups.");
    m.def("improve_groups", &improve, "quadratic"_a, "groups"_a, nb::kw_only(), "fix"_a, "support"_a, "max_moves"_a,
          "seconds"_a = INFINITY, "Improve a set of groups by additions, removals and swaps.");
}
