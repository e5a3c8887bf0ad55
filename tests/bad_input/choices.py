# ruff: noqa: E501
"""What choices among groups and kernels refuse, and their certificates."""

from __future__ import annotations

from bad_input.calls import Table
from bad_input.designs import DESIGNS

# As for kernels: the first row of the table of designs.
_SHARED = ("penalty", "rel_gap", "time_limit", "node_limit", "warm_start", "force_in", "force_out", "progress")

CHOICES: Table = [
    (["solve_groups"], {name: DESIGNS[0][1][name] for name in _SHARED}),
    (
        ["solve_groups", "solve_kernels"],
        {
            "certificate_limit": {
                "np.nan": "certificate_limit must be a finite number >= 0, not nan",
                "None": "certificate_limit must be a number, not None",
            },
            "sample_weight": {
                "changed(np.ones(12), 3, 1e-200)": "sample_weight[3] is 1e-200; divide all weights by their mean",
                "-np.ones(12)": "sample_weight[0] is -1; a weight must be a finite number >= 0",
                "np.zeros(12)": "sample_weight is zero everywhere; at least one row must count",
                "np.ones(5)": "sample_weight has shape (5,); it must have shape (12,)",
                "'w'": "sample_weight must be 12 numbers, or one for all rows",
            },
        },
    ),
    (
        ["solve_groups"],
        {
            "threads": {
                "0": "threads must be >= 1, not 0",
                "'2'": "threads must be a whole number >= 1, not '2'",
            },
            "memory_limit": {
                "-1": "memory_limit must be a finite number >= 0, not -1",
                "None": "memory_limit must be a number, not None",
            },
        },
    ),
    (
        ["SparseKernelRegressor.fit", "SparseKernelRegressor.check"],
        {
            "sample_weight": {
                "changed(np.ones(12), 3, np.nan)": "sample_weight[3] is nan; a weight must be a finite number >= 0",
                "np.ones(5)": "sample_weight has shape (5,); it must have shape (12,)",
            },
            "y": {
                "None": "This SparseKernelRegressor estimator requires y to be passed, but the target y is None.",
                "Y[:5]": "y has 5 entries but X has 12 rows",
            },
        },
    ),
    (
        ["SparseKernelRegressor.check"],
        {
            "X": {"X[:, :3]": "X has 3 features, but SparseKernelRegressor is expecting 4 features as input."},
            "X, y": {"(X[:5], Y[:5])": "X has shape (5, 4), the model was fitted to (12, 4)"},
        },
    ),
    (
        ["GroupCertificate.load", "KernelCertificate.load"],
        {
            "path": {
                "3": "a path is needed to read a certificate from, not 3",
                "'missing.npz'": "[Errno 2] No such file or directory: 'missing.npz'",
                "'.'": ". cannot be read: Is a directory; check the name",
                "'garbage'": "garbage is not a readable Parsifal certificate: not an archive",
            },
            "limit": {
                "0": "limit must be a number of bytes > 0, not 0",
                "'1 GB'": "limit must be a number of bytes > 0, not '1 GB'",
            },
        },
    ),
    (
        ["GroupCertificate.load"],
        {
            "path": {
                "'proof.npz'": "proof.npz is not a readable Parsifal certificate: it is no certificate of groups; Certificate.load reads those of columns",
                "'kernels.npz'": "kernels.npz is not a readable Parsifal certificate: KernelCertificate.load reads it",
            },
        },
    ),
    (
        ["KernelCertificate.load"],
        {"path": {"'groups.npz'": "groups.npz is not a readable Parsifal certificate: GroupCertificate.load reads it"}},
    ),
    (
        ["Certificate.load"],
        {
            "path": {
                "'groups.npz'": "groups.npz is not a readable Parsifal certificate: it is one of groups or kernels: GroupCertificate.load or KernelCertificate.load reads it",
            },
        },
    ),
    (
        ["GroupCertificate.save", "KernelCertificate.save"],
        {
            "path": {
                "3": "a path is needed to write to, not 3",
                "'nowhere/p.npz'": "cannot write nowhere/p.npz: No such file or directory; make its folder first",
            },
        },
    ),
    (
        ["GroupCertificate.from_arrays", "KernelCertificate.from_arrays"],
        {
            "arrays": {
                "None": "a certificate is made from a mapping of names to arrays",
                "{'items': np.asarray(7)}": "it is a certificate of no known kind",
            },
        },
    ),
    (
        ["GroupCertificate.from_arrays"],
        {
            "arrays": {
                "{'items': np.asarray(1)}": "no certificate of groups of format 1",
                "{'items': np.asarray(1), 'format': np.asarray(1)}": "rows is missing",
                "{'items': np.asarray(1), 'format': np.asarray(1), 'rows': np.zeros(3)}": "rows must be a single value",
            },
        },
    ),
    (
        ["check"],
        {
            "certificate, X, y, exact": {
                "(kernels_solved().certificate, KERNELS, Y, True)": "exact checks a proof about columns or groups; check one about kernels without it",
            },
            "certificate, X, y": {
                "(groups_solved().certificate, X, 'y')": "y must be a vector of numbers, one for every row",
            },
        },
    ),
]
