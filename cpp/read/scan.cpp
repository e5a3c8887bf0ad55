#include "read/scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "base/pack.hpp"
#include "base/threads.hpp"
#include "read/scan_kernels.hpp"

namespace parsifal {
namespace {

using kernel::Mode;
using kernel::RowVectors;
using kernel::Sums;

constexpr std::size_t kRowsAtOnce = 8;
constexpr std::size_t kColumnsAtOnce = 4;
constexpr std::size_t kPanelWidth = 2048;      // columns of a row-major task: accumulators stay in the near caches
constexpr std::size_t kPanelRows = 256;        // rows summed before they join the total: keeps rounding errors short
constexpr std::size_t kPackRows = 4096;        // rows of a column that are converted at a time
constexpr std::size_t kTaskBytes = 256 << 10;  // a task this large hides its own overhead
constexpr std::size_t kTasksWanted = 32;       // enough for an even load on many cores

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// How the work is cut: panels of columns and, where there are too few of these, chunks of rows whose partial
// sums are added in order. Depends on the shape of X alone.
struct Grid {
    std::size_t n, p, panel, panels, rows, chunks;

    Grid(std::size_t n_, std::size_t p_, std::size_t item, std::size_t panel_) : n(n_), p(p_), panel(panel_) {
        panels = ceil_div(p, panel);
        const std::size_t useful = std::max<std::size_t>(1, n * p * item / kTaskBytes / panels);
        const std::size_t wanted = std::min(useful, ceil_div(kTasksWanted, panels));
        rows = ceil_div(ceil_div(n, wanted), kRowsAtOnce) * kRowsAtOnce;
        chunks = ceil_div(n, rows);
    }
};

struct Task {
    std::size_t row0, row1, col0, col1;
};

// Runs tile(task, out) over the grid, `out` standing at the task's first column.
template <class Tile>
bool run(const Grid& grid, const ScanOutput& out, const Team& team, const Tile& tile) {
    const std::size_t p = grid.p;
    const std::size_t fields = out.sums ? 3 : 1;
    std::unique_ptr<double[]> partial;
    if (grid.chunks > 1) partial.reset(new double[grid.chunks * fields * p]);

    parallel_for(grid.panels * grid.chunks, team, [&](std::size_t index) {
        const std::size_t chunk = index / grid.panels, panel = index % grid.panels;
        const Task task{chunk * grid.rows, std::min(grid.n, (chunk + 1) * grid.rows), panel * grid.panel,
                        std::min(p, (panel + 1) * grid.panel)};
        ScanOutput to = out;
        if (partial) {
            to.xv = partial.get() + chunk * fields * p;
            if (out.sums) to.sums = to.xv + p, to.squares = to.xv + 2 * p;
        }
        to.xv += task.col0;
        if (out.sums) to.sums += task.col0, to.squares += task.col0;
        tile(task, to);
    });

    if (partial) {
        double* const fields_out[] = {out.xv, out.sums, out.squares};
        for (std::size_t field = 0; field < fields; ++field) {
            std::fill_n(fields_out[field], p, 0.0);
            for (std::size_t chunk = 0; chunk < grid.chunks; ++chunk) {
                const double* from = partial.get() + (chunk * fields + field) * p;
                for (std::size_t j = 0; j < p; ++j) fields_out[field][j] += from[j];
            }
        }
    }
    return all_finite(out, p);
}

RowVectors rows_from(const ScanInput& in, std::size_t row) {
    return {in.v + row, in.sum_weight ? in.sum_weight + row : nullptr,
            in.square_weight ? in.square_weight + row : nullptr};
}

// ---- Columns: Fortran order, data frames, anything whose rows lie closer than its columns.

bool is_aligned(const std::byte* data, std::size_t item) { return reinterpret_cast<std::uintptr_t>(data) % item == 0; }

template <class T>
bool is_plain(const Column& column) {
    constexpr DType dtype = sizeof(T) == 8 ? DType::f64 : DType::f32;
    return column.dtype == dtype && column.stride == static_cast<std::ptrdiff_t>(sizeof(T)) &&
           is_aligned(column.data, sizeof(T));
}

template <Mode mode, class T>
void plain_columns(const Column* columns, std::size_t count, const Task& task, const ScanInput& in, const double* shift,
                   Sums<double>* out) {
    const T* x[kColumnsAtOnce];
    for (std::size_t c = 0; c < count; ++c) {
        x[c] = reinterpret_cast<const T*>(columns[c].data) + task.row0;
    }
    const std::size_t rows = task.row1 - task.row0;
    const RowVectors row = rows_from(in, task.row0);
    if (count == kColumnsAtOnce) return kernel::columns<mode, kColumnsAtOnce>(x, rows, row, shift, out);
    for (std::size_t c = 0; c < count; ++c) kernel::columns<mode, 1>(x + c, rows, row, shift + c, out + c);
}

template <Mode mode>
Sums<double> packed_column(const Column& column, const Task& task, const ScanInput& in, double shift, double* buffer) {
    const PackFn pack = packer(column.dtype);
    Sums<double> sums;
    for (std::size_t row = task.row0; row < task.row1; row += kPackRows) {
        const std::size_t rows = std::min(kPackRows, task.row1 - row);
        pack(column.data + static_cast<std::ptrdiff_t>(row) * column.stride, column.stride, rows, buffer);
        Sums<double> part;
        kernel::columns<mode, 1>(&buffer, rows, rows_from(in, row), &shift, &part);
        sums.xv += part.xv, sums.sums += part.sums, sums.squares += part.squares;
    }
    return sums;
}

// Fetch the start of a column: fetching ahead along the columns before it does not lead there. Inlined by
// force, for GCC sees no effect in a function that only fetches, and drops calls of it.
PARSIFAL_INLINE void fetch_start(const Column& column, const Task& task) {
    const std::size_t item = item_size(column.dtype);
    if (column.stride != static_cast<std::ptrdiff_t>(item)) return;
    const std::size_t bytes = std::min((task.row1 - task.row0) * item, kernel::kAheadInColumn);
    for (std::size_t at = 0; at < bytes; at += 64) prefetch(column.data + task.row0 * item, at);
}

template <Mode mode, class ColumnAt>
void column_tile(const ColumnAt& column_at, const Task& task, const ScanInput& in, const ScanOutput& out) {
    std::vector<double> buffer;
    for (std::size_t j = task.col0; j < task.col1; j += kColumnsAtOnce) {
        const std::size_t count = std::min(kColumnsAtOnce, task.col1 - j);
        Column columns[kColumnsAtOnce];
        double shift[kColumnsAtOnce] = {};
        for (std::size_t c = 0; c < count; ++c) {
            columns[c] = column_at(j + c);
            if (in.shift) shift[c] = in.shift[j + c];
            if (j + kColumnsAtOnce + c < task.col1) fetch_start(column_at(j + kColumnsAtOnce + c), task);
        }
        Sums<double> sums[kColumnsAtOnce];
        if (std::all_of(columns, columns + count, is_plain<double>)) {
            plain_columns<mode, double>(columns, count, task, in, shift, sums);
        } else if (std::all_of(columns, columns + count, is_plain<float>)) {
            plain_columns<mode, float>(columns, count, task, in, shift, sums);
        } else {
            buffer.resize(std::min(kPackRows, task.row1 - task.row0));
            for (std::size_t c = 0; c < count; ++c) {
                sums[c] = packed_column<mode>(columns[c], task, in, shift[c], buffer.data());
            }
        }
        for (std::size_t c = 0; c < count; ++c) {
            const std::size_t to = j + c - task.col0;
            out.xv[to] = sums[c].xv;
            if constexpr (mode != Mode::product) out.sums[to] = sums[c].sums, out.squares[to] = sums[c].squares;
        }
    }
}

// ---- Row-major: C order, anything whose columns lie closer than its rows.

template <Mode mode, class T>
void row_panel(const T* x, std::ptrdiff_t stride, std::size_t rows, std::size_t width, const RowVectors& row,
               const double* shift, double* xv, double* sums, double* squares) {
    std::size_t i = 0;
    const auto from = [&](std::size_t r) {
        return RowVectors{row.v + r, row.a ? row.a + r : nullptr, row.b ? row.b + r : nullptr};
    };
    for (; i + kRowsAtOnce <= rows; i += kRowsAtOnce) {
        kernel::rows<mode, kRowsAtOnce>(x + static_cast<std::ptrdiff_t>(i) * stride, stride, width, from(i), shift, xv,
                                        sums, squares);
    }
    for (; i < rows; ++i) {
        kernel::rows<mode, 1>(x + static_cast<std::ptrdiff_t>(i) * stride, stride, width, from(i), shift, xv, sums,
                              squares);
    }
}

template <Mode mode>
void row_tile(const StridedMatrix& x, const Task& task, const ScanInput& in, const ScanOutput& out,
              const Alarm& alarm) {
    const std::size_t width = task.col1 - task.col0;
    const std::ptrdiff_t item = static_cast<std::ptrdiff_t>(item_size(x.dtype));
    // The plain kernels step in whole, aligned entries; everything else is first packed, a few rows at a
    // time.
    const bool plain = (x.dtype == DType::f64 || x.dtype == DType::f32) && x.col_stride == item &&
                       x.row_stride % item == 0 && is_aligned(x.data, static_cast<std::size_t>(item));
    constexpr std::size_t fields = mode == Mode::product ? 1 : 3;
    std::vector<double> memory((fields + 1) * width + (plain ? 0 : kRowsAtOnce * width));
    double* const xv = memory.data();
    double* const sums = fields == 3 ? xv + width : nullptr;
    double* const squares = fields == 3 ? xv + 2 * width : nullptr;
    double* const shift = xv + fields * width;
    double* const buffer = shift + width;
    if (in.shift) std::copy_n(in.shift + task.col0, width, shift);

    double* const totals[] = {out.xv, out.sums, out.squares};
    for (std::size_t field = 0; field < fields; ++field) std::fill_n(totals[field], width, 0.0);

    for (std::size_t row = task.row0; row < task.row1; row += kPanelRows) {
        const std::size_t rows = std::min(kPanelRows, task.row1 - row);
        alarm.check();  // a tile of a file that is mapped into memory can be long in coming
        const std::byte* const start = x.data + static_cast<std::ptrdiff_t>(row) * x.row_stride +
                                       static_cast<std::ptrdiff_t>(task.col0) * x.col_stride;
        std::fill_n(xv, fields * width, 0.0);
        if (plain && x.dtype == DType::f64) {
            row_panel<mode>(reinterpret_cast<const double*>(start), x.row_stride / item, rows, width,
                            rows_from(in, row), shift, xv, sums, squares);
        } else if (plain) {
            row_panel<mode>(reinterpret_cast<const float*>(start), x.row_stride / item, rows, width, rows_from(in, row),
                            shift, xv, sums, squares);
        } else {
            const PackFn pack = packer(x.dtype);
            for (std::size_t i = 0; i < rows; i += kRowsAtOnce) {
                const std::size_t count = std::min(kRowsAtOnce, rows - i);
                for (std::size_t r = 0; r < count; ++r) {
                    pack(start + static_cast<std::ptrdiff_t>(i + r) * x.row_stride, x.col_stride, width,
                         buffer + r * width);
                }
                row_panel<mode>(buffer, static_cast<std::ptrdiff_t>(width), count, width, rows_from(in, row + i), shift,
                                xv, sums, squares);
            }
        }
        for (std::size_t field = 0; field < fields; ++field) {
            for (std::size_t j = 0; j < width; ++j) totals[field][j] += xv[field * width + j];
        }
    }
}

bool rows_lie_apart(const StridedMatrix& x) {
    return x.p > 1 && (x.n == 1 || std::abs(x.col_stride) < std::abs(x.row_stride));
}

// Calls run(mode) with the cheapest mode that gives what is asked; ones stand in for a weight that is
// missing.
template <class Run>
bool with_mode(std::size_t n, ScanInput in, const ScanOutput& out, const Run& run) {
    if (!out.sums) return run.template operator()<Mode::product>(in);
    if (!in.sum_weight && !in.square_weight) return run.template operator()<Mode::stats>(in);
    std::vector<double> ones;
    if (!in.sum_weight || !in.square_weight) ones.assign(n, 1.0);
    if (!in.sum_weight) in.sum_weight = ones.data();
    if (!in.square_weight) in.square_weight = ones.data();
    return run.template operator()<Mode::weighted>(in);
}

template <class ColumnAt>
bool scan_columns(std::size_t n, std::size_t p, std::size_t item, const ColumnAt& column_at, const ScanInput& in,
                  const ScanOutput& out, const Team& team) {
    const std::size_t fit = std::max<std::size_t>(1, kTaskBytes / (n * item) / kColumnsAtOnce);
    const Grid grid(n, p, item, fit * kColumnsAtOnce);
    return with_mode(n, in, out, [&]<Mode mode>(const ScanInput& input) {
        return run(grid, out, team,
                   [&](const Task& task, const ScanOutput& to) { column_tile<mode>(column_at, task, input, to); });
    });
}

// Columns packed one after the other in blocks of rows; short blocks where neighbouring columns share cache
// lines.
template <class ColumnAt>
void gather_columns(std::size_t n, std::size_t block, const ColumnAt& column_at, const std::int64_t* idx, std::size_t m,
                    double* out, const Team& team) {
    parallel_for(ceil_div(n, block), team, [&](std::size_t task) {
        const std::size_t row = task * block, rows = std::min(block, n - row);
        for (std::size_t k = 0; k < m; ++k) {
            const Column column = column_at(static_cast<std::size_t>(idx[k]));
            packer(column.dtype)(column.data + static_cast<std::ptrdiff_t>(row) * column.stride, column.stride, rows,
                                 out + k * n + row);
        }
    });
}

auto column_of(const StridedMatrix& x) {
    return [&x](std::size_t j) {
        return Column{x.data + static_cast<std::ptrdiff_t>(j) * x.col_stride, x.row_stride, x.dtype};
    };
}

auto column_of(const Table& x) {
    return [&x](std::size_t j) { return x.columns[j]; };
}

}  // namespace

bool all_finite(const ScanOutput& out, std::size_t p) {
    // 0 * x is 0 for every finite x and NaN for the others.
    double zero = 0.0;
    for (std::size_t j = 0; j < p; ++j) zero += 0.0 * out.xv[j];
    if (out.sums) {
        for (std::size_t j = 0; j < p; ++j) zero += 0.0 * out.sums[j] + 0.0 * out.squares[j];
    }
    return zero == 0.0;
}

bool scan(const StridedMatrix& x, const ScanInput& in, const ScanOutput& out, const Team& team) {
    const std::size_t item = item_size(x.dtype);
    const Team workers = team.worth(x.n * x.p * item);
    if (!rows_lie_apart(x)) return scan_columns(x.n, x.p, item, column_of(x), in, out, workers);
    const Grid grid(x.n, x.p, item, kPanelWidth);
    return with_mode(x.n, in, out, [&]<Mode mode>(const ScanInput& input) {
        return run(grid, out, workers,
                   [&](const Task& task, const ScanOutput& to) { row_tile<mode>(x, task, input, to, team.alarm); });
    });
}

bool scan(const Table& x, const ScanInput& in, const ScanOutput& out, const Team& team) {
    const std::size_t p = x.columns.size();
    const Team workers = team.worth(x.n * p * sizeof(double));
    return scan_columns(x.n, p, sizeof(double), column_of(x), in, out, workers);
}

void gather(const StridedMatrix& x, const std::int64_t* idx, std::size_t m, double* out, const Team& team) {
    const std::size_t block = rows_lie_apart(x) ? 64 : 8192;
    gather_columns(x.n, block, column_of(x), idx, m, out, team.worth(x.n * m * sizeof(double)));
}

void gather(const Table& x, const std::int64_t* idx, std::size_t m, double* out, const Team& team) {
    gather_columns(x.n, 8192, column_of(x), idx, m, out, team.worth(x.n * m * sizeof(double)));
}

}  // namespace parsifal
