// Few columns straight through, and the fit of a few columns.
#include "bound/few_columns.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "bound/fit.hpp"
#include "bound/precise.hpp"
#include "quadratic.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace parsifal;

namespace {

using SupportVector = Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1>;

// The arrays, which it keeps alive, and the problem that refers to them.
struct HeldFewColumns {
    HeldFewColumns(Matrix<double> columns_, DoubleVector y_)
        : columns(std::move(columns_)),
          y(std::move(y_)),
          problem({columns.data(), static_cast<Index>(columns.shape(0)), static_cast<Index>(columns.shape(1))},
                  {y.data(), static_cast<Index>(y.shape(0))}) {}

    Matrix<double> columns;
    DoubleVector y;
    FewColumns problem;
};

void require_columns(const std::vector<Index>& support, const HeldFewColumns& self) {
    for (const Index j : support)
        if (j < 0 || j >= static_cast<Index>(self.columns.shape(1)))
            throw std::invalid_argument("a support names a column that is not there");
}

std::optional<std::tuple<SupportVector, VectorXd, double, double>> solve(const HeldFewColumns& self, Index k,
                                                                         double gamma, double penalty, ConstFix fix,
                                                                         const std::vector<std::vector<Index>>& starts,
                                                                         double known, double rel_gap, double abs_gap,
                                                                         double seconds) {
    if (fix.size() != static_cast<Index>(self.columns.shape(1)))
        throw std::invalid_argument("fix must have one entry a column");
    for (const auto& start : starts) require_columns(start, self);
    FewColumns::Answer found;
    {
        nb::gil_scoped_release release;
        found = self.problem.solve({gamma, penalty, k}, fix, starts, known, {rel_gap, abs_gap}, seconds);
    }
    if (!found.settled) return std::nullopt;
    SupportVector support(static_cast<Index>(found.support.size()));
    for (Index a = 0; a < support.size(); ++a) support[a] = found.support[static_cast<size_t>(a)];
    return std::make_tuple(std::move(support), std::move(found.w), found.objective, found.lower_bound);
}

}  // namespace

void bind_few_columns(nb::module_& m) {
    nb::class_<HeldFewColumns>(m, "FewColumns",
                               "Few columns and y, in place, with all their products (cpp/bound/few_columns.hpp).")
        .def(
            "__init__",
            [](HeldFewColumns* self, Matrix<double> columns, DoubleVector y) {
                if (columns.shape(0) != y.shape(0)) throw std::invalid_argument("columns and y differ in length");
                new (self) HeldFewColumns(std::move(columns), std::move(y));
            },
            "columns"_a.noconvert(), "y"_a.noconvert())
        .def_prop_ro(
            "plain", [](const HeldFewColumns& self) { return self.problem.plain(); },
            "Whether they may go straight through at all.")
        .def_prop_ro(
            "product", [](const HeldFewColumns& self) { return VectorXd(self.problem.product()); }, "X'y")
        .def_prop_ro(
            "y_square", [](const HeldFewColumns& self) { return self.problem.y_square(); }, "y'y")
        .def_prop_ro(
            "gram", [](const HeldFewColumns& self) { return MatrixXd(self.problem.gram()); }, "X'X")
        .def_prop_ro(
            "rounding",
            [](const HeldFewColumns& self) {
                const Rounding& r = self.problem.rounding();
                return std::make_tuple(r.norm, r.unit, r.error, r.base, r.drift, r.reach);
            },
            "How far the products may be off: norm, unit, error, base, drift and reach.")
        .def(
            "residual_square",
            [](const HeldFewColumns& self, const std::vector<Index>& support, ConstVector w) {
                require_columns(support, self);
                if (w.size() != static_cast<Index>(support.size()))
                    throw std::invalid_argument("w must have one entry a column of the support");
                return self.problem.residual_square(support, w);
            },
            "support"_a, "w"_a, "|y - X w|^2 for w on these columns.")
        .def("solve", &solve, nb::kw_only(), "k"_a, "gamma"_a, "penalty"_a, "fix"_a, "starts"_a, "known"_a, "rel_gap"_a,
             "abs_gap"_a, "seconds"_a,
             "The best support with its coefficients, its objective and a lower bound on all others; None: not "
             "settled. An empty support with the objective `known` says that nothing better was found.");

    m.def(
        "fit_columns",
        [](ConstMatrix columns, ConstVector y, double gamma) {
            if (y.size() != columns.rows()) throw std::invalid_argument("y must have one entry a row");
            nb::gil_scoped_release release;
            return fit_columns(columns, y, gamma);
        },
        "columns"_a, "y"_a, "gamma"_a, "Coefficients of the columns; none where they are too ill-conditioned.");
    m.def(
        "fit_value",
        [](ConstMatrix columns, ConstVector y, ConstVector w, double gamma) {
            if (y.size() != columns.rows() || w.size() != columns.cols())
                throw std::invalid_argument("y, columns and w differ in size");
            nb::gil_scoped_release release;
            const FitValue found = fit_value(columns, y, w, gamma);
            return std::make_pair(found.value, found.usual);
        },
        "columns"_a, "y"_a, "w"_a, "gamma"_a,
        "The objective of coefficients, and whether all of its squares are within what a double holds.");
    m.def(
        "precise_residual",
        [](ConstVector y, ConstMatrix columns, ConstVector w) {
            if (y.size() != columns.rows() || w.size() != columns.cols())
                throw std::invalid_argument("y, columns and w differ in size");
            nb::gil_scoped_release release;
            const MatrixXd dense = columns;
            VectorXd residual(y.size());
            precise_residual(y.data(), dense.data(), w.data(), y.size(), w.size(), residual.data());
            return residual;
        },
        "y"_a, "columns"_a, "w"_a, "y - columns w with twice the digits of a double, rounded once at the end.");
}
