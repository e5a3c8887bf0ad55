// The survivors as columns, where their Gram matrix would not fit or not pay: products are computed at first use. Those
// of the columns that take part in working sets are kept, each with the ones that came before it; whole columns of the
// Gram matrix, which local searches ask for, are kept while there is room, the latest ones.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bound/survivors.hpp"
#include "read/coarse_columns.hpp"
#include "read/column_store.hpp"

namespace parsifal {

// Products of columns with each other, computed at first use. A column that is asked for gets a place, and its row of
// products with all columns in earlier places; a row never changes once it is there. Without room for more rows,
// products are computed each time.
class ProductCache {
  public:
    ProductCache(const ColumnStore& store, double bytes);
    ~ProductCache();
    ProductCache(const ProductCache&) = delete;
    ProductCache& operator=(const ProductCache&) = delete;

    // A matrix of this size to write to.
    void among(const std::vector<Index>& columns, Eigen::Ref<MatrixXd> out);

  private:
    void admit(const std::vector<Index>& columns);
    void fill(std::span<const std::pair<int, Index>> fresh);  // places and columns, ascending

    const ColumnStore& store_;
    std::mutex mutex_;  // guards the places being given out
    double bytes_left_;
    std::vector<std::atomic<int>> place_;          // of every column; -1: none
    std::vector<Index> order_;                     // the column in every place
    std::vector<std::atomic<const double*>> row_;  // of every place; null while it is being computed
    int count_ = 0;
};

class HeldColumns final : public Survivors {
  public:
    // `cache` is what products may take, in bytes. y and the columns have to outlive this. `coarse` is filled here.
    HeldColumns(const Terms& terms, const ColumnStore& store, const ConstVector& y, double cache, CoarseColumns coarse);

    Index size() const override { return store_.columns(); }
    VectorXd squares() const override { return squares_; }
    VectorXd origin() const override { return origin_; }
    GramColumn column(Index j) const override;
    MatrixXd among(const std::vector<Index>& columns) const override {
        MatrixXd out(static_cast<Index>(columns.size()), static_cast<Index>(columns.size()));
        products_.among(columns, out);
        return out;
    }
    void among(const std::vector<Index>& columns, Eigen::Ref<MatrixXd> out) const { products_.among(columns, out); }
    Surroundings around(const std::vector<Index>& columns, const ConstVector& w) const override;
    double level() const override { return 0.5 * y_.squaredNorm(); }
    double unit_for(Index columns) const override { return rounding(0, 0, 0).unit_for(columns); }
    double least_squares(const std::vector<Index>& support, const ConstVector& w) const override;
    const HeldColumns* held() const override { return this; }

    const ConstVector& y() const { return y_; }
    const VectorXd& norm() const { return norm_; }
    double unit() const { return unit_; }  // of a sum over the rows
    VectorXd residual(const std::vector<Index>& columns, const ConstVector& w) const;
    void products(const std::vector<Index>& columns, const VectorXd& v, double* out) const;
    const CoarseColumns& coarse() const { return coarse_; }
    // Whether all products with a column can be had at the price of a look at memory.
    bool in_memory() const { return store_.in_memory(); }

  private:
    // Around a point with a residual of this size, and so many coefficients of this size.
    Rounding rounding(double reach, Index terms, double norms) const;

    const ColumnStore store_;
    CoarseColumns coarse_;
    const ConstVector y_;
    const double unit_;
    VectorXd squares_, norm_, origin_;
    mutable ProductCache products_;

    struct Kept {
        Index column;
        GramColumn products;
    };
    const size_t most_columns_;
    mutable std::mutex mutex_;
    mutable std::list<Kept> latest_;  // the latest first
    mutable std::unordered_map<Index, std::list<Kept>::iterator> where_;
};

}  // namespace parsifal
