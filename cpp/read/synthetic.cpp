#include "read/synthetic.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "base/threads.hpp"
#include "read/generate.hpp"
#include "read/scan_kernels.hpp"

namespace parsifal {
namespace {

using kernel::Mode;
using kernel::RowVectors;
using kernel::Sums;

constexpr std::size_t kTileRows = 1024;  // four columns of so many floats, and v, stay in the first cache
constexpr std::size_t kColumnsAtOnce = 4;
constexpr std::size_t kTasksWanted = 32;

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// Rows of a tile, in groups as they are generated: groups [group, group + count), of which the rows [skip, skip + rows)
// are meant.
struct Tile {
    std::size_t group, count, skip, rows, first;  // first: row of v

    Tile(const SyntheticMatrix& x, std::size_t begin, std::size_t end) {
        group = begin / kGroupRows;
        count = ceil_div(end, kGroupRows) - group;
        skip = begin - group * kGroupRows;
        rows = end - begin;
        first = begin - x.lo;
    }
};

// The rows of X cut at multiples of kTileRows, so that groups are not made twice.
template <class Use>
void for_tiles(const SyntheticMatrix& x, std::size_t begin, std::size_t end, const Use& use) {
    while (begin < end) {
        const std::size_t stop = std::min(end, (begin / kTileRows + 1) * kTileRows);
        use(Tile(x, begin, stop));
        begin = stop;
    }
}

// Makes the columns of one chain in turn, each from the one before.
class Chain {
  public:
    Chain(const SyntheticMatrix& x, const Tile& tile, std::size_t column, float* state) : x_(x), tile_(tile) {
        const std::size_t anchor = column / x.width * x.width;
        at_ = anchor - std::min(anchor, x.rho == 0.0f ? 0 : x.burn);
        if (x.rho == 0.0f) {
            at_ = column;
            return;
        }
        make(nullptr, state);
        while (at_ < column) make(state, state);
        ready_ = state;
    }

    // Writes the next column to `out`, which must stay until the one after is made.
    void next(float* out) {
        if (ready_) {
            if (ready_ != out) std::copy_n(ready_, tile_.count * kGroupRows, out);
            ready_ = nullptr;
        } else {
            make(x_.rho == 0.0f ? nullptr : last_, out);
        }
        last_ = out;
    }

  private:
    void make(const float* before, float* out) {
        generate_column(x_.seed, tile_.group, tile_.count, started_ ? ++at_ : at_, before, x_.rho, x_.innovation, out);
        started_ = true;
    }

    const SyntheticMatrix& x_;
    const Tile& tile_;
    std::size_t at_;
    bool started_ = false;
    float *ready_ = nullptr, *last_ = nullptr;
};

template <Mode mode>
void scan_chain(const SyntheticMatrix& x, std::size_t chain, std::size_t begin, std::size_t end, const ScanInput& in,
                const ScanOutput& out, const Alarm& alarm) {
    const std::size_t col0 = chain * x.width, col1 = std::min(x.p, col0 + x.width);
    alignas(64) float buffer[kColumnsAtOnce][kTileRows];
    double* const fields[] = {out.xv, out.sums, out.squares};
    for (std::size_t field = 0; field < (mode == Mode::product ? 1 : 3); ++field)
        std::fill(fields[field] + col0, fields[field] + col1, 0.0);
    for_tiles(x, begin, end, [&](const Tile& tile) {
        alarm.check();
        Chain columns(x, tile, col0, buffer[0]);
        const RowVectors row{in.v + tile.first, in.sum_weight ? in.sum_weight + tile.first : nullptr,
                             in.square_weight ? in.square_weight + tile.first : nullptr};
        for (std::size_t j = col0; j < col1; j += kColumnsAtOnce) {
            const std::size_t count = std::min(kColumnsAtOnce, col1 - j);
            const float* at[kColumnsAtOnce];
            double shift[kColumnsAtOnce] = {};
            for (std::size_t c = 0; c < count; ++c) {
                columns.next(buffer[c]);
                at[c] = buffer[c] + tile.skip;
                if (in.shift) shift[c] = in.shift[j + c];
            }
            Sums<double> sums[kColumnsAtOnce];
            if (count == kColumnsAtOnce) {
                kernel::columns<mode, kColumnsAtOnce>(at, tile.rows, row, shift, sums);
            } else {
                for (std::size_t c = 0; c < count; ++c)
                    kernel::columns<mode, 1>(at + c, tile.rows, row, shift + c, sums + c);
            }
            for (std::size_t c = 0; c < count; ++c) {
                out.xv[j + c] += sums[c].xv;
                if constexpr (mode != Mode::product) {
                    out.sums[j + c] += sums[c].sums;
                    out.squares[j + c] += sums[c].squares;
                }
            }
        }
    });
}

}  // namespace

bool scan(const SyntheticMatrix& x, const ScanInput& input, const ScanOutput& out, const Team& team) {
    const std::size_t rows = x.hi - x.lo, chains = ceil_div(x.p, x.width), fields = out.sums ? 3 : 1;
    // Few chains: rows are shared out as well, and partial sums added in order. Depends on the shape alone.
    const std::size_t tiles = ceil_div(rows, kTileRows);
    const std::size_t chunk = ceil_div(tiles, std::min(tiles, ceil_div(kTasksWanted, chains))) * kTileRows;
    const std::size_t chunks = ceil_div(rows, chunk);
    std::unique_ptr<double[]> partial;
    if (chunks > 1) partial.reset(new double[chunks * fields * x.p]);
    ScanInput in = input;
    std::vector<double> ones;
    const bool weighted = out.sums && (in.sum_weight || in.square_weight);
    if (weighted && !(in.sum_weight && in.square_weight)) {
        ones.assign(rows, 1.0);
        if (!in.sum_weight) in.sum_weight = ones.data();
        if (!in.square_weight) in.square_weight = ones.data();
    }
    parallel_for(chains * chunks, team.worth(rows * x.p * sizeof(double)), [&](std::size_t task) {
        const std::size_t chain = task % chains, part = task / chains;
        const std::size_t begin = x.lo + part * chunk, end = std::min(x.hi, begin + chunk);
        ScanOutput to = out;
        if (partial) {
            to.xv = partial.get() + part * fields * x.p;
            if (out.sums) to.sums = to.xv + x.p, to.squares = to.xv + 2 * x.p;
        }
        if (!out.sums) {
            scan_chain<Mode::product>(x, chain, begin, end, in, to, team.alarm);
        } else if (!weighted) {
            scan_chain<Mode::stats>(x, chain, begin, end, in, to, team.alarm);
        } else {
            scan_chain<Mode::weighted>(x, chain, begin, end, in, to, team.alarm);
        }
    });
    if (partial) {
        double* const totals[] = {out.xv, out.sums, out.squares};
        for (std::size_t field = 0; field < fields; ++field) {
            std::fill_n(totals[field], x.p, 0.0);
            for (std::size_t part = 0; part < chunks; ++part) {
                const double* from = partial.get() + (part * fields + field) * x.p;
                for (std::size_t j = 0; j < x.p; ++j) totals[field][j] += from[j];
            }
        }
    }
    return all_finite(out, x.p);
}

void gather(const SyntheticMatrix& x, const std::int64_t* idx, std::size_t m, double* out, const Team& team) {
    // In the order of the columns, so that those of one chain are made in one go.
    std::vector<std::size_t> order(m);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return idx[a] < idx[b]; });
    const std::size_t rows = x.hi - x.lo, tiles = x.hi / kTileRows - x.lo / kTileRows + 1;
    const std::size_t work = rows * m * sizeof(double) * (x.rho == 0.0f ? 1 : x.width / 2);
    parallel_for(tiles, team.worth(work), [&](std::size_t number) {
        const std::size_t at = (x.lo / kTileRows + number) * kTileRows;
        const std::size_t begin = std::max(x.lo, at), end = std::min(x.hi, at + kTileRows);
        if (begin >= end) return;
        const Tile tile(x, begin, end);
        alignas(64) float state[kTileRows];
        std::unique_ptr<Chain> chain;
        std::size_t chain_number = 0, position = 0;
        for (std::size_t k = 0; k < m; ++k) {
            const auto j = static_cast<std::size_t>(idx[order[k]]);
            if (!chain || x.rho == 0.0f || j / x.width != chain_number) {
                chain = std::make_unique<Chain>(x, tile, j, state);
                chain_number = j / x.width;
                chain->next(state);
                position = j;
            }
            for (; position < j; ++position) chain->next(state);
            double* to = out + order[k] * rows + tile.first;
            for (std::size_t i = 0; i < tile.rows; ++i) to[i] = static_cast<double>(state[tile.skip + i]);
        }
    });
}

}  // namespace parsifal
