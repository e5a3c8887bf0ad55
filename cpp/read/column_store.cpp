#include "read/column_store.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "read/scan_kernels.hpp"

namespace parsifal {

namespace {

constexpr std::size_t columns_at_once = 4;
constexpr std::ptrdiff_t streamed_entries = 1 << 18;

// Kept, since blocks of this size that come and go among small ones leave holes that nothing fills.
thread_local std::vector<double> passing_by;

template <std::size_t Count, class T>
void some_products(const T* const* x, std::size_t rows, const double* v, double* out) {
    constexpr double shift[Count] = {};
    kernel::Sums<double> sums[Count];
    kernel::columns<kernel::Mode::product, Count>(x, rows, {v, nullptr, nullptr}, shift, sums);
    for (std::size_t c = 0; c < Count; ++c) out[c] = sums[c].xv;
}

// at(i) is where the i-th of `count` columns begins.
template <class At>
void all_products(const At& at, std::size_t count, std::size_t rows, const double* v, double* out) {
    using Pointer = std::remove_cvref_t<decltype(at(0))>;
    std::size_t i = 0;
    for (; i + columns_at_once <= count; i += columns_at_once) {
        Pointer x[columns_at_once];
        for (std::size_t c = 0; c < columns_at_once; ++c) x[c] = at(i + c);
        some_products<columns_at_once>(x, rows, v, out + i);
    }
    for (; i < count; ++i) {
        Pointer x = at(i);
        some_products<1>(&x, rows, v, out + i);
    }
}

}  // namespace

// ---- Columns that are loaded

ColumnLoader::ColumnLoader(Load load, Position rows, Position columns, double bytes)
    : load_(std::move(load)), rows_(rows), bytes_left_(bytes), kept_(static_cast<std::size_t>(columns)) {}

ColumnLoader::~ColumnLoader() {
    for (const auto& column : kept_) delete[] column.load();
}

void ColumnLoader::fetch(std::span<const Position> which, std::vector<const double*>& at,
                         std::vector<double>& passing) {
    const auto find = [&](std::size_t i) {
        return at[i] = kept_[static_cast<std::size_t>(which[i])].load(std::memory_order_acquire);
    };
    at.resize(which.size());
    bool complete = true;
    for (std::size_t i = 0; i < which.size(); ++i) complete = find(i) && complete;
    if (complete) return;
    std::lock_guard lock(mutex_);
    std::vector<Position> missing;
    std::vector<std::size_t> place;
    for (std::size_t i = 0; i < which.size(); ++i)
        if (!find(i)) {
            missing.push_back(which[i]);
            place.push_back(i);
        }
    passing.resize(missing.size() * static_cast<std::size_t>(rows_));
    load_(missing, passing.data());
    for (std::size_t a = 0; a < missing.size(); ++a) {
        const double* column = passing.data() + static_cast<Position>(a) * rows_;
        at[place[a]] = column;
        const double bytes = 8.0 * static_cast<double>(rows_);
        auto& slot = kept_[static_cast<std::size_t>(missing[a])];
        if (slot.load() || bytes_left_ < bytes) continue;
        bytes_left_ -= bytes;
        auto copy = std::make_unique<double[]>(static_cast<std::size_t>(rows_));
        std::copy_n(column, rows_, copy.get());
        slot.store(copy.release(), std::memory_order_release);
    }
}

void ColumnLoader::load(Position first, Position last, std::vector<double>& to) {
    std::vector<Position> which(static_cast<std::size_t>(last - first));
    std::iota(which.begin(), which.end(), first);
    to.resize(which.size() * static_cast<std::size_t>(rows_));
    std::lock_guard lock(mutex_);
    load_(which, to.data());
}

// ---- All columns

template <class Use>
void ColumnStore::with_columns(std::span<const Position> which, const Use& use) const {
    std::visit(
        [&](auto* data) {
            if constexpr (std::is_same_v<decltype(data), ColumnLoader*>) {
                std::vector<const double*> at;
                data->fetch(which, at, passing_by);
                for (std::size_t i = 0; i < which.size(); ++i) use(i, at[i]);
            } else {
                for (std::size_t i = 0; i < which.size(); ++i) use(i, data + which[i] * rows_);
            }
        },
        data_);
}

void ColumnStore::products(std::span<const Position> which, const double* v, double* out) const {
    const auto rows = static_cast<std::size_t>(rows_);
    std::visit(
        [&](auto* data) {
            if constexpr (std::is_same_v<decltype(data), ColumnLoader*>) {
                std::vector<const double*> at;
                data->fetch(which, at, passing_by);
                all_products([&](std::size_t i) { return at[i]; }, which.size(), rows, v, out);
            } else {
                all_products([&](std::size_t i) { return data + which[i] * rows_; }, which.size(), rows, v, out);
            }
        },
        data_);
}

void ColumnStore::add(std::span<const Position> which, const double* factor, double* to) const {
    with_columns(which, [&](std::size_t c, const auto* x) {
        const double by = factor[c];
        for (Position i = 0; i < rows_; ++i) to[i] += by * static_cast<double>(x[i]);
    });
}

void ColumnStore::unpack(std::span<const Position> which, double* to) const {
    with_columns(which, [&](std::size_t c, const auto* x) {
        double* column = to + static_cast<Position>(c) * rows_;
        for (Position i = 0; i < rows_; ++i) column[i] = static_cast<double>(x[i]);
    });
}

void ColumnStore::stream(const std::function<void(Position, const double*)>& visit) const {
    std::vector<double> some;
    const Position step = in_memory() ? 1 : std::max<Position>(1, streamed_entries / rows_);
    for (Position first = 0; first < columns_; first += step) {
        const Position last = std::min(columns_, first + step);
        if (in_memory()) {
            some.resize(static_cast<std::size_t>(rows_));
            unpack({&first, 1}, some.data());
        } else {
            std::get<ColumnLoader*>(data_)->load(first, last, some);
        }
        for (Position j = first; j < last; ++j) visit(j, some.data() + (j - first) * rows_);
    }
}

}  // namespace parsifal
