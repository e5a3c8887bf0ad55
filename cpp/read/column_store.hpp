// Columns as double or float, and their products with vectors, summed in double precision. They lie one after the other
// in memory, or are loaded when they are first asked for.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <variant>
#include <vector>

namespace parsifal {

// Columns that lie elsewhere. Those that were loaded are kept while there is room, and do not move.
class ColumnLoader {
  public:
    using Position = std::ptrdiff_t;
    // Writes the columns, one after the other, as doubles; called by one thread at a time.
    using Load = std::function<void(std::span<const Position>, double*)>;

    ColumnLoader(Load load, Position rows, Position columns, double bytes);
    ~ColumnLoader();
    ColumnLoader(const ColumnLoader&) = delete;
    ColumnLoader& operator=(const ColumnLoader&) = delete;

    // Where the columns are; what there is no room to keep is in `passing`.
    void fetch(std::span<const Position> which, std::vector<const double*>& at, std::vector<double>& passing);
    // Columns first to last (excluded), not kept.
    void load(Position first, Position last, std::vector<double>& to);

  private:
    Load load_;
    Position rows_;
    std::mutex mutex_;
    double bytes_left_;
    std::vector<std::atomic<const double*>> kept_;
};

// Refers to the entries, or the loader, which have to outlive it.
class ColumnStore {
  public:
    using Position = std::ptrdiff_t;

    ColumnStore(const double* data, Position rows, Position columns) : data_(data), rows_(rows), columns_(columns) {}
    ColumnStore(const float* data, Position rows, Position columns) : data_(data), rows_(rows), columns_(columns) {}
    ColumnStore(ColumnLoader& loader, Position rows, Position columns)
        : data_(&loader), rows_(rows), columns_(columns) {}

    Position rows() const { return rows_; }
    Position columns() const { return columns_; }
    bool in_memory() const { return !std::holds_alternative<ColumnLoader*>(data_); }

    // out[i] = x_j'v with j = which[i].
    void products(std::span<const Position> which, const double* v, double* out) const;
    // to += sum of factor[i] x_j with j = which[i].
    void add(std::span<const Position> which, const double* factor, double* to) const;
    // The columns as doubles, one after the other.
    void unpack(std::span<const Position> which, double* to) const;
    // Every column once, as doubles, in order.
    void stream(const std::function<void(Position, const double*)>& visit) const;

  private:
    // use(i, where the column which[i] begins).
    template <class Use>
    void with_columns(std::span<const Position> which, const Use& use) const;

    std::variant<const double*, const float*, ColumnLoader*> data_;
    Position rows_, columns_;
};

}  // namespace parsifal
