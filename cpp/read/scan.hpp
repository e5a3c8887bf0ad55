// The one read of X. With d_ij = x_ij - shift_j, for every column j
//
//     xv_j = sum_i v_i d_ij,   sums_j = sum_i a_i d_ij,   squares_j = sum_i b_i d_ij^2,
//
// all from a single pass over the entries, which keep their storage type and are summed in double precision.
// Results do not depend on the number of threads: the work is cut into tasks by the shape of X alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/threads.hpp"

namespace parsifal {

enum class DType : int { f64, f32, f16, i8, i16, i32, i64, u8, u16, u32, u64 };  // bool is read as u8

struct ScanInput {
    const double* v;              // length n
    const double* shift;          // length p, or null for zeros
    const double* sum_weight;     // a, length n, or null for ones
    const double* square_weight;  // b, length n, or null for ones
};

struct ScanOutput {
    double* xv;       // length p
    double* sums;     // length p, or null: no statistics
    double* squares;  // length p, null exactly when sums is
};

// A dense matrix by its address; strides are in bytes, of any sign, and nothing needs to be aligned.
struct StridedMatrix {
    const std::byte* data;
    DType dtype;
    std::size_t n, p;
    std::ptrdiff_t row_stride, col_stride;
};

// Columns that lie anywhere, each of its own type: a data frame.
struct Column {
    const std::byte* data;
    std::ptrdiff_t stride;
    DType dtype;
};

struct Table {
    std::size_t n;
    std::vector<Column> columns;
};

// Compressed columns (csc) or rows, indices sorted and unique. Only rows [lo, hi) are seen; row lo is row 0
// of v.
struct SparseMatrix {
    const void* data;
    const void* indices;
    const void* indptr;
    bool is_csc, is_f32, is_i64;
    std::size_t n, p;
    std::size_t lo, hi;
};

// Fill `out`; false if some output is not finite. Throws TimeUp when the team's alarm rings.
bool scan(const StridedMatrix& x, const ScanInput& in, const ScanOutput& out, const Team& team);
bool scan(const Table& x, const ScanInput& in, const ScanOutput& out, const Team& team);
bool scan(const SparseMatrix& x, const ScanInput& in, const ScanOutput& out, const Team& team);

// Copy m columns, as doubles, to the column-major n by m array `out`.
void gather(const StridedMatrix& x, const std::int64_t* idx, std::size_t m, double* out, const Team& team);
void gather(const Table& x, const std::int64_t* idx, std::size_t m, double* out, const Team& team);
void gather(const SparseMatrix& x, const std::int64_t* idx, std::size_t m, double* out, const Team& team);

bool all_finite(const ScanOutput& out, std::size_t p);

}  // namespace parsifal
