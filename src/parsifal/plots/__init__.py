"""Pictures of results, with matplotlib (``pip install parsifal[plot]``); each returns the Axes it drew on."""

from parsifal.plots.of_models import cv_curve, residuals, shrinkage, support_agreement
from parsifal.plots.of_paths import bounds, coefficients, criteria, r2, ranking

__all__ = [
    "bounds",
    "coefficients",
    "criteria",
    "cv_curve",
    "r2",
    "ranking",
    "residuals",
    "shrinkage",
    "support_agreement",
]
