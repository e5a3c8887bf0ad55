// The columns that are left, as frames, bounds and local searches ask for them: inner products on demand, and the
// least-squares part around a point. Behind it is the whole Gram matrix (here), or the columns themselves
// (bound/held_columns.hpp), of which only the products that are used are ever computed.
#pragma once

#include <memory>
#include <vector>

#include "bound/quadratic.hpp"

namespace parsifal {

class HeldColumns;

// A column of the Gram matrix; what it points to stays for as long as somebody keeps the pointer.
using GramColumn = std::shared_ptr<const double>;

// LS around a point w: its value, -grad, and what rounding can be worth.
struct Surroundings {
    double ls = 0;
    VectorXd beta;
    Rounding rounding;
};

// May be used by many threads at once.
class Survivors : public Terms {
  public:
    explicit Survivors(const Terms& terms) : Terms(terms) {}
    Survivors(const Survivors&) = delete;
    Survivors& operator=(const Survivors&) = delete;
    virtual ~Survivors() = default;

    virtual Index size() const = 0;
    virtual VectorXd squares() const = 0;                                 // x_j'x_j
    virtual VectorXd origin() const = 0;                                  // X'y
    virtual GramColumn column(Index j) const = 0;                         // X'x_j
    virtual MatrixXd among(const std::vector<Index>& columns) const = 0;  // of few columns with each other
    virtual Surroundings around(const std::vector<Index>& columns, const ConstVector& w) const = 0;
    // Of a sum over the rows and one over so many columns (Rounding::unit_for).
    virtual double unit_for(Index columns) const = 0;
    virtual double level() const = 0;  // LS at a point of reference: the size of what is compared
    // LS(w) for w on a few columns.
    virtual double least_squares(const std::vector<Index>& support, const ConstVector& w) const = 0;
    // The problem in inner products, where it is that; the columns, where it is those.
    virtual const Quadratic* quadratic() const { return nullptr; }
    virtual const HeldColumns* held() const { return nullptr; }
};

// All products at hand. Refers to the problem, which has to outlive it.
class GramSurvivors final : public Survivors {
  public:
    explicit GramSurvivors(const Quadratic& problem) : Survivors(problem), q_(problem) {}

    Index size() const override { return q_.size(); }
    VectorXd squares() const override { return q_.gram.diagonal(); }
    VectorXd origin() const override;
    GramColumn column(Index j) const override { return {std::shared_ptr<void>(), q_.gram.col(j).data()}; }
    MatrixXd among(const std::vector<Index>& columns) const override { return q_.gram(columns, columns); }
    Surroundings around(const std::vector<Index>& columns, const ConstVector& w) const override;
    double level() const override { return std::abs(q_.ls0); }
    double unit_for(Index columns) const override { return q_.rounding.unit_for(columns); }
    double least_squares(const std::vector<Index>& support, const ConstVector& w) const override;
    const Quadratic* quadratic() const override { return &q_; }

  private:
    const Quadratic& q_;
};

}  // namespace parsifal
