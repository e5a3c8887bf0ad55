// The reduced problem and its verbs: relax, local search, restarts.
#include "quadratic.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "bindings.hpp"
#include "bound/completions.hpp"
#include "bound/relaxation.hpp"
#include "bound/restarts.hpp"
#include "bound/swap.hpp"
#include "listen.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace parsifal;

namespace {

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

Eigen::Map<const VectorXd> view(const DoubleVector& array) {
    return {array.data(), static_cast<Index>(array.shape(0))};
}

void construct(HeldQuadratic* self, Matrix<double> gram, DoubleVector v0, DoubleVector beta0, double ls0, double gamma,
               double penalty, Index k, const Rounding& rounding, const HeldRules* rules) {
    const auto m = static_cast<Index>(gram.shape(0));
    const Eigen::Map<const MatrixXd> matrix(gram.data(), m, static_cast<Index>(gram.shape(1)));
    if (matrix.cols() != m || view(v0).size() != m || view(beta0).size() != m || rounding.norm.size() != m)
        throw std::invalid_argument("gram, v0, beta0 and the norms of its columns differ in size");
    const Quadratic problem{{gamma, penalty, k, rules_of(rules, m)}, matrix, view(v0), view(beta0), ls0, rounding};
    new (self) HeldQuadratic(std::move(gram), std::move(v0), std::move(beta0), problem);
}

// Columns of one storage type, which the problem keeps.
template <class T>
struct HeldData final : Held {
    HeldData(Matrix<T> columns_, DoubleVector y_, const Terms& terms, double cache)
        : columns(std::move(columns_)),
          y(std::move(y_)),
          problem(
              terms,
              ColumnStore(columns.data(), static_cast<Index>(columns.shape(0)), static_cast<Index>(columns.shape(1))),
              view(y), cache,
              CoarseColumns(static_cast<Index>(columns.shape(0)), static_cast<Index>(columns.shape(1)))) {}
    const Survivors& survivors() const override { return problem; }

    Matrix<T> columns;
    DoubleVector y;
    HeldColumns problem;
};

template <class T>
void bind_columns(nb::module_& m, const char* name) {
    nb::class_<HeldData<T>, Held>(m, name,
                                  "The columns that survive, in place; `cache` is what products of them may take, in "
                                  "bytes (cpp/bound/held_columns.hpp).")
        .def(
            "__init__",
            [](HeldData<T>* self, Matrix<T> columns, DoubleVector y, double gamma, double penalty, Index k,
               double cache, const HeldRules* rules) {
                if (columns.shape(0) != y.shape(0)) throw std::invalid_argument("columns and y differ in length");
                const Terms terms{gamma, penalty, k, rules_of(rules, static_cast<Index>(columns.shape(1)))};
                nb::gil_scoped_release release;
                new (self) HeldData<T>(std::move(columns), std::move(y), terms, cache);
            },
            nb::kw_only(), "columns"_a.noconvert(), "y"_a, "gamma"_a, "penalty"_a, "k"_a, "cache"_a,
            "rules"_a = nb::none());
}

nb::dict relax(const HeldQuadratic& q, ConstFix fix, ConstVector start, double cutoff, double tolerance, int max_solves,
               double seconds) {
    require_columns(fix, q, "fix");
    require_columns(start, q, "start");
    const Alarm alarm(seconds, listen);
    Relaxation relaxation(q.problem, alarm);
    RelaxationResult r;
    {
        nb::gil_scoped_release release;
        r = relaxation.solve(fix, start, {.cutoff = cutoff, .tolerance = tolerance, .max_solves = max_solves});
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
}

std::pair<std::vector<Index>, double> local_search(const Held& q, ConstFix fix, std::vector<Index> support, bool greedy,
                                                   int max_moves, double seconds) {
    require_columns(fix, q, "fix");
    for (const Index j : support)
        if (j < 0 || j >= q.survivors().size()) throw std::invalid_argument("support names a column that is not there");
    const Alarm alarm(seconds, listen);
    nb::gil_scoped_release release;
    LocalSearch search(q.survivors(), alarm);
    if (q.survivors().rules) {
        // What side constraints allow of it, with what that implies.
        VectorXd weight = VectorXd::Zero(q.survivors().size());
        for (const Index j : support) weight[j] = 1;
        search.mend(fix, weight, support);
    }
    if (greedy) search.greedy(fix, support);
    const double value = search.improve(fix, support, max_moves);
    return {std::move(support), value};
}

std::pair<std::vector<Index>, double> restarts(const Held& q, ConstFix fix, ConstVector s, int count, double seconds) {
    require_columns(fix, q, "fix");
    require_columns(s, q, "s");
    const Alarm alarm(seconds, listen);
    nb::gil_scoped_release release;
    std::vector<Index> best;
    const double value = Restarts(q.survivors(), alarm, {}).run(fix, s, count, best);
    return {std::move(best), value};
}

// Columns that Python loads when they are first asked for.
struct DistantData final : Held {
    DistantData(nb::callable load_, DoubleVector y_, Index columns, const Terms& terms, double kept, double cache,
                CoarseColumns coarse)
        : load(std::move(load_)),
          y(std::move(y_)),
          loader([this](std::span<const Index> which, double* out) { fetch(which, out); },
                 static_cast<Index>(y.shape(0)), columns, kept),
          problem(terms, ColumnStore(loader, static_cast<Index>(y.shape(0)), columns), view(y), cache,
                  std::move(coarse)) {}
    const Survivors& survivors() const override { return problem; }

    void fetch(std::span<const Index> which, double* out) const {
        nb::gil_scoped_acquire acquire;
        const auto found = nb::cast<Matrix<double>>(load(std::vector<Index>(which.begin(), which.end())));
        if (found.shape(0) != y.shape(0) || found.shape(1) != which.size())
            throw std::invalid_argument("the columns that were loaded have another shape");
        std::copy_n(found.data(), found.size(), out);
    }

    nb::callable load;
    DoubleVector y;
    ColumnLoader loader;
    HeldColumns problem;
};

double least_value(const Matrix<double>& columns, const DoubleVector& y, double gamma) {
    const auto n = static_cast<Index>(columns.shape(0)), m = static_cast<Index>(columns.shape(1));
    if (static_cast<Index>(y.size()) != n) throw std::invalid_argument("y must have one entry a row");
    std::vector<Index> all(static_cast<size_t>(m));
    std::iota(all.begin(), all.end(), Index{0});
    const Data data{Eigen::Map<const MatrixXd>(columns.data(), n, m), Eigen::Map<const VectorXd>(y.data(), n),
                    1 / gamma};
    return data.least_value(all);
}

nb::dict complete(const HeldQuadratic& q, ConstFix fix, double objective, double rel_gap, double abs_gap,
                  double most_work, double seconds) {
    require_columns(fix, q, "fix");
    std::vector<Index> in, free;
    for (Index j = 0; j < fix.size(); ++j) {
        if (fix[j] > 0) in.push_back(j);
        if (fix[j] == 0) free.push_back(j);
    }
    const Alarm alarm(seconds, listen);
    Completions::Answer a;
    {
        nb::gil_scoped_release release;
        const CorrelationTable table(q.problem);
        const Data none;
        a = Completions(table, alarm, none)
                .close(in, free, q.problem.room(fix), objective, {rel_gap, abs_gap}, most_work);
    }
    nb::dict d;
    d["closed"] = a.closed;
    d["bound"] = a.bound;
    d["value"] = a.value;
    d["support"] = a.support;
    d["branch"] = a.branch;
    d["done"] = a.done;
    d["closed_bound"] = a.closed_bound;
    d["work"] = a.work;
    return d;
}

using Whole = std::int64_t;
using WholeVector = nb::ndarray<const Whole, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using SignVector = nb::ndarray<const signed char, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

SideRows side_rows(const WholeVector& offset, const WholeVector& column, const WholeVector& coef,
                   const WholeVector& upper, Index columns) {
    if (offset.shape(0) != upper.shape(0) + 1 || column.shape(0) != coef.shape(0))
        throw std::invalid_argument("the arrays of the rows differ in size");
    std::vector<SideRows::Row> rows(upper.shape(0));
    for (size_t r = 0; r < rows.size(); ++r) {
        rows[r].upper = upper.data()[r];
        for (Whole at = offset.data()[r]; at < offset.data()[r + 1]; ++at) {
            const Whole j = at < static_cast<Whole>(column.shape(0)) ? column.data()[at] : -1;
            if (j < 0 || j >= columns) throw std::invalid_argument("a row names a column that is not there");
            rows[r].entries.push_back({static_cast<Index>(j), coef.data()[at]});
        }
    }
    return {std::move(rows), columns};
}

void bind_rules(nb::module_& m) {
    nb::class_<HeldRules>(m, "ColumnRules",
                          "Prices, signs and side constraints, where columns are not all alike "
                          "(cpp/bound/column_rules.hpp).")
        .def(
            "__init__",
            [](HeldRules* self, const DoubleVector& price, const SignVector& sign, const WholeVector& row_offset,
               const WholeVector& row_column, const WholeVector& row_coef, const WholeVector& row_upper,
               std::vector<Index> cap, std::vector<Index> most) {
                if (price.shape(0) != sign.shape(0)) throw std::invalid_argument("price and sign differ in size");
                const auto columns = static_cast<Index>(price.shape(0));
                auto rows = side_rows(row_offset, row_column, row_coef, row_upper, columns);
                if (!most.empty() && static_cast<Index>(cap.size()) != columns)
                    throw std::invalid_argument("cap must have one entry a column");
                for (const Index own : cap)
                    if (own < -1 || own >= static_cast<Index>(most.size()))
                        throw std::invalid_argument("a column names a cap that is not there");
                new (self) HeldRules{
                    std::make_shared<const ColumnRules>(std::vector<double>(price.data(), price.data() + columns),
                                                        std::vector<signed char>(sign.data(), sign.data() + columns),
                                                        std::move(rows), std::move(cap), std::move(most))};
            },
            nb::kw_only(), "price"_a, "sign"_a, "row_offset"_a, "row_column"_a, "row_coef"_a, "row_upper"_a, "cap"_a,
            "most"_a)
        .def(
            "propagate",
            [](const HeldRules& self, ConstFix fix) {
                if (static_cast<size_t>(fix.size()) != self.rules->price.size())
                    throw std::invalid_argument("fix must have one entry a column");
                Fixes result = fix;
                const bool possible = self.rules->rows.propagate(result);
                return std::make_pair(result, possible);
            },
            "fix"_a, "The fixes with what the rows imply, and whether they allow anything.");
}

}  // namespace

void bind_quadratic(nb::module_& m) {
    nb::class_<Rounding>(m, "Rounding", "How far the numbers of a Quadratic may be off (cpp/bound/rounding.hpp).")
        .def(
            "__init__",
            [](Rounding* self, const DoubleVector& norm, double unit, double error, double base, double drift,
               double reach) { new (self) Rounding{view(norm), unit, error, base, drift, reach}; },
            nb::kw_only(), "norm"_a, "unit"_a, "error"_a, "base"_a, "drift"_a, "reach"_a);

    bind_rules(m);
    nb::class_<Held>(m, "Survivors", "The reduced problem, as searches take it.");
    bind_columns<double>(m, "Columns");
    bind_columns<float>(m, "FloatColumns");
    nb::class_<DistantData, Held>(
        m, "DistantColumns",
        "The columns that survive, elsewhere: load(positions) gives some of them as a matrix. "
        "Those marked in `copied` are copied coarsely; of the others the products with `reference` are noted. "
        "`kept` is what loaded columns may take, in bytes, `cache` their products.")
        .def(
            "__init__",
            [](DistantData* self, nb::callable load, DoubleVector y, ConstFix copied, ConstVector reference,
               double gamma, double penalty, Index k, double kept, double cache, const HeldRules* rules) {
                if (reference.size() != static_cast<Index>(y.shape(0)))
                    throw std::invalid_argument("the reference must have a number a row");
                const Terms terms{gamma, penalty, k, rules_of(rules, copied.size())};
                CoarseColumns coarse(reference.size(), {copied.data(), static_cast<size_t>(copied.size())},
                                     {reference.data(), static_cast<size_t>(reference.size())});
                new (self)
                    DistantData(std::move(load), std::move(y), copied.size(), terms, kept, cache, std::move(coarse));
            },
            nb::kw_only(), "load"_a, "y"_a, "copied"_a, "reference"_a, "gamma"_a, "penalty"_a, "k"_a, "kept"_a,
            "cache"_a, "rules"_a = nb::none());
    nb::class_<HeldQuadratic, Held>(
        m, "Quadratic",
        "The reduced problem; refers to its arrays, which are copied only where they are not "
        "float64, contiguous and, for gram, in Fortran order.")
        .def("__init__", &construct, nb::kw_only(), "gram"_a, "v0"_a, "beta0"_a, "ls0"_a, "gamma"_a, "penalty"_a, "k"_a,
             "rounding"_a, "rules"_a = nb::none());

    m.def("relax", &relax, "quadratic"_a, nb::kw_only(), "fix"_a, "start"_a, "cutoff"_a, "tolerance"_a, "max_solves"_a,
          "seconds"_a = INFINITY, "Solve the relaxation of one node of the reduced problem.");
    m.def("local_search", &local_search, "survivors"_a, nb::kw_only(), "fix"_a, "support"_a, "greedy"_a, "max_moves"_a,
          "seconds"_a = INFINITY, "Improve a support by additions, removals and swaps; greedy fills it first.");
    m.def("least_value", &least_value, "columns"_a, "y"_a, "gamma"_a,
          "Not above the objective of any coefficients on these columns.");
    m.def("complete", &complete, "quadratic"_a, nb::kw_only(), "fix"_a, "objective"_a, "rel_gap"_a, "abs_gap"_a = 0.0,
          "most_work"_a = INFINITY, "seconds"_a = INFINITY,
          "Whether a node has a completion below the cutoff, by bounds on sets of few columns.");
    m.def("restarts", &restarts, "survivors"_a, nb::kw_only(), "fix"_a, "s"_a, "count"_a, "seconds"_a = INFINITY,
          "Local search from random supports drawn from the columns with s > 0.");
}
