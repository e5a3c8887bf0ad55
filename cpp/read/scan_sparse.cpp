// Sparse columns and rows. With Z the zeros that are not stored, a sum over a column splits as
//
//     sum_i a_i (x_i - s) = sum_stored a_i (x_i - s) - s sum_Z a_i,   sum_Z a_i = sum_i a_i - sum_stored a_i,
//
// so a shift costs one more accumulator per sum and no fill-in; squares add terms of one sign only and do not
// cancel.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "read/scan.hpp"

namespace parsifal {
namespace {

constexpr std::size_t kMaxBlocks = 16;
constexpr std::size_t kColumnTasks = 64;

// Everything a column needs for its three sums. Side by side, for a row-wise walk touches columns at random.
struct Stored {
    double xv = 0.0, sums = 0.0, squares = 0.0;
    double v = 0.0, a = 0.0, b = 0.0;  // the row vectors summed over the stored entries
    double count = 0.0;

    void add(double d, double v_i, double a_i, double b_i) {
        xv += v_i * d, sums += a_i * d, squares += b_i * d * d;
        v += v_i, a += a_i, b += b_i, count += 1.0;
    }
    void operator+=(const Stored& o) {
        xv += o.xv, sums += o.sums, squares += o.squares;
        v += o.v, a += o.a, b += o.b, count += o.count;
    }
};

// The row vectors summed over all rows.
struct Totals {
    double rows, v, a, b;

    Totals(const ScanInput& in, std::size_t n) : rows(static_cast<double>(n)), v(0.0), a(0.0), b(0.0) {
        for (std::size_t i = 0; i < n; ++i) {
            v += in.v[i];
            a += in.sum_weight ? in.sum_weight[i] : 1.0;
            b += in.square_weight ? in.square_weight[i] : 1.0;
        }
    }
};

void finish(const Stored& stored, const Totals& totals, double shift, std::size_t j, const ScanOutput& out) {
    // A column without zeros must not pay for the rounding of totals.v - stored.v.
    const double zeros = stored.count == totals.rows ? 0.0 : shift;
    out.xv[j] = stored.xv - zeros * (totals.v - stored.v);
    if (out.sums) {
        out.sums[j] = stored.sums - zeros * (totals.a - stored.a);
        out.squares[j] = stored.squares + zeros * zeros * (totals.b - stored.b);
    }
}

template <class T, class I>
struct View {
    const T* data;
    const I* indices;
    const I* indptr;
    std::size_t lo, hi, p;

    explicit View(const SparseMatrix& x)
        : data(static_cast<const T*>(x.data)),
          indices(static_cast<const I*>(x.indices)),
          indptr(static_cast<const I*>(x.indptr)),
          lo(x.lo),
          hi(x.hi),
          p(x.p) {}

    // Stored entries of column j (csc) that lie in rows [lo, hi).
    std::pair<std::size_t, std::size_t> entries(std::size_t j, std::size_t n) const {
        std::size_t begin = static_cast<std::size_t>(indptr[j]), end = static_cast<std::size_t>(indptr[j + 1]);
        if (lo > 0) begin = std::lower_bound(indices + begin, indices + end, static_cast<I>(lo)) - indices;
        if (hi < n) end = std::lower_bound(indices + begin, indices + end, static_cast<I>(hi)) - indices;
        return {begin, end};
    }
};

template <class V>
void scan_csc(const V& x, std::size_t n, const ScanInput& in, const ScanOutput& out, const Team& team) {
    const bool full = out.sums || in.shift;
    const Totals totals(in, x.hi - x.lo);
    const std::size_t step = std::max<std::size_t>(1, x.p / kColumnTasks);
    parallel_for((x.p + step - 1) / step, team, [&](std::size_t task) {
        for (std::size_t j = task * step; j < std::min(x.p, (task + 1) * step); ++j) {
            const auto [begin, end] = x.entries(j, n);
            if (!full) {
                double sum = 0.0;
                for (std::size_t e = begin; e < end; ++e) {
                    sum += in.v[static_cast<std::size_t>(x.indices[e]) - x.lo] * static_cast<double>(x.data[e]);
                }
                out.xv[j] = sum;
                continue;
            }
            const double shift = in.shift ? in.shift[j] : 0.0;
            Stored stored;
            for (std::size_t e = begin; e < end; ++e) {
                const std::size_t i = static_cast<std::size_t>(x.indices[e]) - x.lo;
                stored.add(static_cast<double>(x.data[e]) - shift, in.v[i], in.sum_weight ? in.sum_weight[i] : 1.0,
                           in.square_weight ? in.square_weight[i] : 1.0);
            }
            finish(stored, totals, shift, j, out);
        }
    });
}

// Rows in a fixed number of blocks of about equal size, each with its own accumulators, added in order: so
// many that the accumulators stay small beside the matrix, and never dependent on the number of threads.
template <class Sum, class V, class Add>
std::vector<Sum> accumulate_csr(const V& x, const Team& team, const Add& add) {
    const std::size_t first = static_cast<std::size_t>(x.indptr[x.lo]);
    const std::size_t stored = static_cast<std::size_t>(x.indptr[x.hi]) - first;
    const std::size_t blocks = std::clamp<std::size_t>(stored / (8 * x.p), 1, kMaxBlocks);
    std::vector<std::vector<Sum>> sums(blocks);
    std::vector<std::size_t> bound(blocks + 1, x.hi);
    for (std::size_t block = 0; block < blocks; ++block) {
        const auto* at =
            std::lower_bound(x.indptr + x.lo, x.indptr + x.hi, first + stored * block / blocks,
                             [](auto entry, std::size_t want) { return static_cast<std::size_t>(entry) < want; });
        bound[block] = static_cast<std::size_t>(at - x.indptr);
    }
    bound[0] = x.lo;
    parallel_for(blocks, team, [&](std::size_t block) {
        sums[block].resize(x.p);
        for (std::size_t i = bound[block]; i < bound[block + 1]; ++i) {
            for (auto e = x.indptr[i]; e < x.indptr[i + 1]; ++e) {
                const std::size_t j = static_cast<std::size_t>(x.indices[e]);
                add(sums[block][j], i - x.lo, j, static_cast<double>(x.data[e]));
            }
        }
    });
    for (std::size_t block = 1; block < blocks; ++block) {
        for (std::size_t j = 0; j < x.p; ++j) sums[0][j] += sums[block][j];
    }
    return std::move(sums[0]);
}

template <class V>
void scan_csr(const V& x, const ScanInput& in, const ScanOutput& out, const Team& team) {
    if (!out.sums && !in.shift) {
        const auto sums = accumulate_csr<double>(
            x, team, [&](double& sum, std::size_t i, std::size_t, double entry) { sum += in.v[i] * entry; });
        std::copy(sums.begin(), sums.end(), out.xv);
        return;
    }
    const auto sums = accumulate_csr<Stored>(x, team, [&](Stored& sum, std::size_t i, std::size_t j, double entry) {
        sum.add(entry - (in.shift ? in.shift[j] : 0.0), in.v[i], in.sum_weight ? in.sum_weight[i] : 1.0,
                in.square_weight ? in.square_weight[i] : 1.0);
    });
    const Totals totals(in, x.hi - x.lo);
    for (std::size_t j = 0; j < x.p; ++j) finish(sums[j], totals, in.shift ? in.shift[j] : 0.0, j, out);
}

template <class V>
void gather_csc(const V& x, std::size_t n, const std::int64_t* idx, std::size_t m, double* out, const Team& team) {
    const std::size_t rows = x.hi - x.lo;
    parallel_for(m, team, [&](std::size_t k) {
        double* const column = out + k * rows;
        std::fill_n(column, rows, 0.0);
        const auto [begin, end] = x.entries(static_cast<std::size_t>(idx[k]), n);
        for (std::size_t e = begin; e < end; ++e) {
            column[static_cast<std::size_t>(x.indices[e]) - x.lo] = static_cast<double>(x.data[e]);
        }
    });
}

// Every row is either searched for each wanted column or walked with a map of the wanted ones, whichever is
// less work.
template <class V>
void gather_csr(const V& x, const std::int64_t* idx, std::size_t m, double* out, const Team& team) {
    const std::size_t rows = x.hi - x.lo;
    const double per_row = static_cast<double>(x.indptr[x.hi] - x.indptr[x.lo]) / static_cast<double>(rows);
    const bool search = static_cast<double>(m) * std::log2(per_row + 2.0) < per_row;
    constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> place, twin(m, kNone);  // where a column goes; which earlier column it repeats
    if (!search) {
        place.assign(x.p, kNone);
        for (std::size_t k = 0; k < m; ++k) {
            std::size_t& at = place[static_cast<std::size_t>(idx[k])];
            if (at == kNone) {
                at = k;
            } else {
                twin[k] = at;
            }
        }
    }
    constexpr std::size_t block = 512;
    parallel_for((rows + block - 1) / block, team, [&](std::size_t task) {
        const std::size_t row0 = task * block, row1 = std::min(rows, row0 + block);
        for (std::size_t k = 0; k < m; ++k) std::fill(out + k * rows + row0, out + k * rows + row1, 0.0);
        for (std::size_t i = row0; i < row1; ++i) {
            const auto* begin = x.indices + x.indptr[x.lo + i];
            const auto* end = x.indices + x.indptr[x.lo + i + 1];
            if (search) {
                for (std::size_t k = 0; k < m; ++k) {
                    const auto* at = std::lower_bound(begin, end, idx[k]);
                    if (at != end && *at == idx[k]) out[k * rows + i] = static_cast<double>(x.data[at - x.indices]);
                }
                continue;
            }
            for (const auto* at = begin; at != end; ++at) {
                const std::size_t k = place[static_cast<std::size_t>(*at)];
                if (k != kNone) out[k * rows + i] = static_cast<double>(x.data[at - x.indices]);
            }
        }
        for (std::size_t k = 0; k < m; ++k) {
            if (twin[k] != kNone) std::copy_n(out + twin[k] * rows + row0, row1 - row0, out + k * rows + row0);
        }
    });
}

template <class Run>
void with_types(const SparseMatrix& x, const Run& run) {
    if (x.is_f32) {
        x.is_i64 ? run(View<float, std::int64_t>(x)) : run(View<float, std::int32_t>(x));
    } else {
        x.is_i64 ? run(View<double, std::int64_t>(x)) : run(View<double, std::int32_t>(x));
    }
}

std::size_t bytes_stored(const SparseMatrix& x) {
    const std::size_t last = x.is_csc ? x.p : x.n;
    const std::size_t stored =
        x.is_i64 ? static_cast<const std::int64_t*>(x.indptr)[last] : static_cast<const std::int32_t*>(x.indptr)[last];
    return stored * ((x.is_f32 ? 4 : 8) + (x.is_i64 ? 8 : 4)) * (x.hi - x.lo) / x.n;
}

}  // namespace

bool scan(const SparseMatrix& x, const ScanInput& in, const ScanOutput& out, const Team& team) {
    const Team workers = team.worth(bytes_stored(x));
    with_types(x, [&](const auto& view) {
        x.is_csc ? scan_csc(view, x.n, in, out, workers) : scan_csr(view, in, out, workers);
    });
    return all_finite(out, x.p);
}

void gather(const SparseMatrix& x, const std::int64_t* idx, std::size_t m, double* out, const Team& team) {
    const Team workers = team.worth((x.hi - x.lo) * m * sizeof(double));
    with_types(x, [&](const auto& view) {
        x.is_csc ? gather_csc(view, x.n, idx, m, out, workers) : gather_csr(view, idx, m, out, workers);
    });
}

}  // namespace parsifal
