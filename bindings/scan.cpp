// Design matrices for Python. A matrix is handed over as an address with its strides, for bool and float16
// and any layout take the same road; src/parsifal/design keeps the memory alive and is the only caller.
#include "read/scan.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <stdexcept>

#include "bindings.hpp"
#include "listen.hpp"
#include "read/generate.hpp"
#include "read/synthetic.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace parsifal;

namespace {

using In = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Positions = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Out2 = nb::ndarray<double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

DType dtype_from(int code) {
    if (code < 0 || code > static_cast<int>(DType::u64)) throw std::invalid_argument("unknown dtype code");
    return static_cast<DType>(code);
}

void check(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

std::size_t rows(const StridedMatrix& x) { return x.n; }
std::size_t rows(const Table& x) { return x.n; }
std::size_t rows(const SparseMatrix& x) { return x.hi - x.lo; }
std::size_t rows(const SyntheticMatrix& x) { return x.hi - x.lo; }
std::size_t width(const StridedMatrix& x) { return x.p; }
std::size_t width(const Table& x) { return x.columns.size(); }
std::size_t width(const SparseMatrix& x) { return x.p; }
std::size_t width(const SyntheticMatrix& x) { return x.p; }

// Vectorised loops may step from one aligned block of entries to the next, so entries must lie where their type wants
// them; NumPy and nanobind do not see to that.
bool is_aligned(std::uintptr_t data, std::size_t item) { return data % item == 0; }

template <class Array>
void check_aligned(const Array& array) {
    check(is_aligned(reinterpret_cast<std::uintptr_t>(array.data()), sizeof(*array.data())),
          "an array is not aligned; pass np.require(array, requirements='A')");
}

template <class Array>
auto* pointer(const Array& array, std::size_t length, const char* what) {
    if (!array.is_valid()) return static_cast<decltype(array.data())>(nullptr);
    check(array.shape(0) == length, what);
    check_aligned(array);
    return array.data();
}

template <class Matrix>
bool scan_matrix(const Matrix& x, const In& v, const In& shift, const In& sum_weight, const In& square_weight,
                 const Out& xv, const Out& sums, const Out& squares, int threads, double seconds) {
    const std::size_t n = rows(x), p = width(x);
    check(sums.is_valid() == squares.is_valid(), "sums and squares come together");
    const ScanInput in{pointer(v, n, "v must have one entry a row"),
                       pointer(shift, p, "shift must have one entry a column"),
                       pointer(sum_weight, n, "sum_weight must have one entry a row"),
                       pointer(square_weight, n, "square_weight must have one entry a row")};
    const ScanOutput out{pointer(xv, p, "xv must have one entry a column"),
                         pointer(sums, p, "sums must have one entry a column"),
                         pointer(squares, p, "squares must have one entry a column")};
    const Alarm alarm(seconds, listen);
    const nb::gil_scoped_release release;
    return scan(x, in, out, Team{threads, alarm});
}

template <class Matrix>
void gather_matrix(const Matrix& x, const Positions& idx, const Out2& out, int threads, double seconds) {
    const std::size_t m = idx.shape(0);
    check(out.shape(0) == rows(x) && out.shape(1) == m, "out must have one row a row of X and one column an index");
    check_aligned(idx);
    check_aligned(out);
    for (std::size_t k = 0; k < m; ++k) {
        check(idx.data()[k] >= 0 && static_cast<std::size_t>(idx.data()[k]) < width(x), "index out of range");
    }
    const Alarm alarm(seconds, listen);
    const nb::gil_scoped_release release;
    gather(x, idx.data(), m, out.data(), Team{threads, alarm});
}

const std::byte* address(std::uintptr_t value) { return reinterpret_cast<const std::byte*>(value); }

template <class Matrix>
nb::class_<Matrix> bind(nb::module_& m, const char* name, const char* doc) {
    return nb::class_<Matrix>(m, name, doc)
        .def("scan", &scan_matrix<Matrix>, "v"_a.noconvert(), "shift"_a.noconvert().none(),
             "sum_weight"_a.noconvert().none(), "square_weight"_a.noconvert().none(), "xv"_a.noconvert(),
             "sums"_a.noconvert().none(), "squares"_a.noconvert().none(), "threads"_a, "seconds"_a = INFINITY,
             "One read: xv = (X - shift)'v and, if asked, weighted column sums and sums of squares. "
             "Returns whether all of them are finite; TimeUp if it takes more than `seconds`.")
        .def("gather", &gather_matrix<Matrix>, "idx"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
             "seconds"_a = INFINITY, "Copy columns to a Fortran-ordered array of doubles.");
}

}  // namespace

void bind_scan(nb::module_& m) {
    bind<StridedMatrix>(m, "StridedMatrix", "A dense matrix by address; strides in bytes.")
        .def(
            "__init__",
            [](StridedMatrix* self, std::uintptr_t data, int dtype, std::size_t n, std::size_t p,
               std::ptrdiff_t row_stride, std::ptrdiff_t col_stride) {
                check(n > 0 && p > 0, "a matrix needs a row and a column");
                new (self) StridedMatrix{address(data), dtype_from(dtype), n, p, row_stride, col_stride};
            },
            "data"_a, "dtype"_a, "n"_a, "p"_a, "row_stride"_a, "col_stride"_a);

    bind<Table>(m, "Table", "Columns by address, each with its own byte stride and type.")
        .def(
            "__init__",
            [](Table* self, std::size_t n, const std::vector<std::uintptr_t>& data,
               const std::vector<std::ptrdiff_t>& strides, const std::vector<int>& dtypes) {
                check(n > 0 && !data.empty(), "a matrix needs a row and a column");
                check(data.size() == strides.size() && data.size() == dtypes.size(), "one stride and type a column");
                Table table{n, {}};
                table.columns.reserve(data.size());
                for (std::size_t j = 0; j < data.size(); ++j) {
                    table.columns.push_back({address(data[j]), strides[j], dtype_from(dtypes[j])});
                }
                new (self) Table(std::move(table));
            },
            "n"_a, "data"_a, "strides"_a, "dtypes"_a)
        .def(
            "rows",
            [](const Table& self, std::size_t start, std::size_t stop) {
                check(start < stop && stop <= self.n, "row slice out of range");
                Table table{stop - start, self.columns};
                for (Column& c : table.columns) c.data += static_cast<std::ptrdiff_t>(start) * c.stride;
                return table;
            },
            "start"_a, "stop"_a, "The same columns from row start to row stop.");

    bind<SparseMatrix>(m, "SparseMatrix", "Compressed columns or rows by address; indices sorted and unique.")
        .def(
            "__init__",
            [](SparseMatrix* self, std::uintptr_t data, std::uintptr_t indices, std::uintptr_t indptr, bool is_csc,
               bool is_f32, bool is_i64, std::size_t n, std::size_t p, std::size_t lo, std::size_t hi) {
                check(lo < hi && hi <= n && p > 0, "a matrix needs a row and a column");
                check(is_aligned(data, is_f32 ? 4 : 8) && is_aligned(indices | indptr, is_i64 ? 8 : 4),
                      "the arrays of a sparse matrix are not aligned");
                new (self) SparseMatrix{
                    address(data), address(indices), address(indptr), is_csc, is_f32, is_i64, n, p, lo, hi};
            },
            "data"_a, "indices"_a, "indptr"_a, "is_csc"_a, "is_f32"_a, "is_i64"_a, "n"_a, "p"_a, "lo"_a, "hi"_a);

    bind<SyntheticMatrix>(m, "SyntheticMatrix", "Correlated normals made from a counter while they are read.")
        .def(
            "__init__",
            [](SyntheticMatrix* self, std::uint64_t seed, float rho, float innovation, std::size_t burn,
               std::size_t width, std::size_t n, std::size_t p, std::size_t lo, std::size_t hi) {
                check(lo < hi && hi <= n && p > 0 && width > 0, "a matrix needs a row and a column");
                new (self) SyntheticMatrix{seed, rho, innovation, burn, width, n, p, lo, hi};
            },
            "seed"_a, "rho"_a, "innovation"_a, "burn"_a, "width"_a, "n"_a, "p"_a, "lo"_a, "hi"_a);

    m.def(
        "philox",
        [](std::uint32_t c0, std::uint32_t c1, std::uint32_t c2, std::uint32_t c3, std::uint32_t k0, std::uint32_t k1) {
            const std::uint32_t counter[4] = {c0, c1, c2, c3}, key[2] = {k0, k1};
            std::uint32_t out[4];
            philox(counter, key, out);
            return nb::make_tuple(out[0], out[1], out[2], out[3]);
        },
        "The four words of Philox 4x32-7 for a counter and a key.");
}
