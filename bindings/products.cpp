// Products of columns. Arrays are read in place where their layout allows (Fortran order, float64).
#include <nanobind/eigen/dense.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "bindings.hpp"
#include "bound/quadratic.hpp"
#include "listen.hpp"
#include "read/gram.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace parsifal;

void bind_products(nb::module_& m) {
    m.def(
        "gram",
        [](ConstMatrix a, ConstMatrix b, int threads, double seconds) {
            const Alarm alarm(seconds, listen);
            nb::gil_scoped_release release;
            return gram(a, b, Team{threads, alarm});
        },
        "a"_a, "b"_a, "threads"_a = 0, "seconds"_a = INFINITY, "a'b, without a BLAS.");

    m.def(
        "submatrix",
        [](ConstMatrix a, const std::vector<Index>& keep, int threads, double seconds) {
            for (const Index j : keep)
                if (j < 0 || j >= std::min(a.rows(), a.cols())) throw std::invalid_argument("index out of range");
            const Alarm alarm(seconds, listen);
            nb::gil_scoped_release release;
            return submatrix(a, keep, Team{threads, alarm});
        },
        "a"_a, "keep"_a, "threads"_a = 0, "seconds"_a = INFINITY, "a[np.ix_(keep, keep)], in Fortran order.");

    m.def(
        "residual",
        [](ConstVector y, ConstMatrix columns, ConstVector v) {
            nb::gil_scoped_release release;
            VectorXd r = y;
            for (Index j = 0; j < v.size(); ++j)
                if (v[j] != 0) r.noalias() -= v[j] * columns.col(j);
            return r;
        },
        "y"_a, "columns"_a, "v"_a, "y - columns v, skipping zeros.");
}
