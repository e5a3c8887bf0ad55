# ruff: noqa: E501
"""What the commands refuse."""

from __future__ import annotations

from bad_input.calls import Table

# The commands; then by option or argument, what is typed and the message in full.
COMMAND_LINE: Table = [
    (
        ["fit", "path", "cv", "diagnose", "predict", "check"],
        {
            "DATA": {
                "missing.csv": "missing.csv does not exist; check the name and the folder",
            },
            "--delimiter": {
                "::": "the delimiter must be one character, not '::'; for a tab write --delimiter tab",
            },
        },
    ),
    (
        ["fit", "predict"],
        {
            "DATA": {
                "folder": "folder is a folder; give a file",
                "model.json": "model.json has an ending that is not known; use one of .csv, .tsv, .txt, .parquet, .pq, .arrow, .feather, .ipc, .xlsx, .xlsm, .jsonl, .ndjson, .npy, .npz",
                "newer.xlsx": "newer.xlsx does not exist; did you mean newer.json?",
            },
            "--delimiter": {
                ";": "data.csv has one column only, 'a,b,c,w,y'; try --delimiter ','",
            },
        },
    ),
    (
        ["fit", "path", "cv", "diagnose"],
        {
            "--target": {
                "z": "--target z is not a column of data.csv; its columns are a, b, c, w, y",
            },
            "--drop": {
                "z": "--drop z is not a column of data.csv; its columns are a, b, c, w, y",
            },
            "--categorical": {
                "z": "--categorical z is not a column of data.csv; its columns are a, b, c, w, y",
            },
            "--dates": {
                "z": "--dates z is not a column of data.csv; its columns are a, b, c, w, y",
            },
            "--numbers": {
                "z": "--numbers z is not a column of data.csv; its columns are a, b, c, w, y",
            },
            "--weights": {
                "z": "--weights z is not a column of data.csv; its columns are a, b, c, w, y",
            },
            "--adjust": {
                "z": "--adjust z is not a feature; the features are a, b, w",
                "a,b,w": "--adjust names every feature, which leaves none to choose; adjust for fewer",
            },
            "--threads": {
                "0": "--threads must be a whole number >= 1, not '0'",
            },
        },
    ),
    (
        ["fit"],
        {
            "--target": {
                "": "--target is not a column of data.csv; its columns are a, b, c, w, y",
            },
            "--k": {
                "0": "k must be >= 1, not 0",
                "-2": "k must be >= 1, not -2",
                "2.5": "--k must be a whole number, not '2.5'",
            },
            "--gamma": {
                "-1": "gamma must be a number > 0 (large means a weak ridge), not -1.0",
            },
            "--penalty": {
                "-1": "penalty must be a finite number >= 0, not -1.0",
                "nan": "penalty must be a finite number >= 0, not nan",
            },
            "--drop": {
                "y": "column 'y' is dropped but needed as target or weight",
            },
            "--weights": {
                "c": "column 'c' is dropped but needed as target or weight",
            },
            "--decimal": {
                "": "the decimal point must be one character, not ''",
            },
            "--time-limit": {
                "nan": "time_limit must be a finite number >= 0, not nan",
            },
            "--node-limit": {
                "x": "--node-limit must be a whole number, not 'x'",
                "1.5": "--node-limit must be a whole number, not '1.5'",
            },
            "--rel-gap": {
                "nan": "rel_gap must be a finite number >= 0, not nan",
                "x": "--rel-gap must be a number, not 'x'",
            },
            "--threads": {
                "-5": "--threads must be a whole number >= 1, not '-5'",
                "x": "--threads must be a whole number >= 1, not 'x'",
            },
            "--checkpoint": {
                "folder": "checkpoint folder is a folder; give a file's name",
                "data.csv": "data.csv is no checkpoint, or a damaged one (not an archive); delete it to start anew",
            },
            "--out": {
                "folder": "folder is a folder; give a file's name",
            },
            "--certificate": {
                "folder": "folder is a folder; give a file's name",
            },
            "--report": {
                "folder": "folder is a folder; give a file's name",
            },
            "--report-time": {
                "x": "--report-time must be a number >= 0, not 'x'",
            },
        },
    ),
    (
        ["fit", "reproduce"],
        {
            "--k": {
                "x": "--k must be a whole number, not 'x'",
            },
            "--time-limit": {
                "x": "--time-limit must be a number, not 'x'",
            },
        },
    ),
    (
        ["fit", "path", "diagnose"],
        {
            "--gamma": {
                "strong": "--gamma must be a number > 0 or auto, not 'strong'",
            },
        },
    ),
    (
        ["fit", "path", "cv"],
        {
            "--penalty": {
                "x": "--penalty must be a number, not 'x'",
            },
            "--sign": {
                "z=+": "--sign z is not a feature; the features are a, b, w",
                "a": "--sign a is no sign; give name=+ for a coefficient >= 0, name=- for one <= 0",
                "a=2": "--sign a=2 is no sign; give name=+ for a coefficient >= 0, name=- for one <= 0",
            },
            "--force-in": {
                "z": "--force-in z is not a feature; the features are a, b, w",
            },
            "--force-out": {
                "z": "--force-out z is not a feature; the features are a, b, w",
            },
            "--time-limit": {
                "-1": "time_limit must be a finite number >= 0, not -1.0",
            },
            "--node-limit": {
                "0": "node_limit must be >= 1, not 0",
            },
            "--rel-gap": {
                "-1": "rel_gap must be a finite number >= 0, not -1.0",
            },
            "--out": {
                "nowhere/m.json": "the folder of nowhere/m.json does not exist; make it first",
            },
            "--certificate": {
                "nowhere/p.npz": "the folder of nowhere/p.npz does not exist; make it first",
            },
            "--report": {
                "nowhere/r.html": "the folder of nowhere/r.html does not exist; make it first",
            },
            "--report-time": {
                "-1": "--report-time must be a number >= 0, not '-1'",
            },
        },
    ),
    (
        ["fit", "path", "cv", "diagnose", "check"],
        {
            "--impute": {
                "mean": "--impute must be median, not 'mean'",
            },
        },
    ),
    (
        ["fit", "path", "cv", "diagnose", "predict"],
        {
            "--decimal": {
                "::": "the decimal point must be one character, not '::'",
            },
            "--encoding": {
                "martian": "encoding 'martian' is not known; try --encoding latin-1",
            },
        },
    ),
    (
        ["fit", "cv"],
        {
            "--method": {
                "magic": "method must be one of search, cutting-plane, big-m, not 'magic'",
            },
            "--backend": {
                "cplex": "backend must be one of scip, highs, gurobi, not 'cplex'",
            },
            "--checkpoint": {
                "nowhere/f.npz": "cannot write nowhere/f.npz: No such file or directory; make its folder first",
            },
        },
    ),
    (
        ["path", "cv", "diagnose"],
        {
            "--ks": {
                "": "--ks must be like 1-20 or 1,2,5, not ''",
            },
        },
    ),
    (
        ["path"],
        {
            "--criterion": {
                "magic": "--criterion must be one of aic, bic, ebic, not 'magic'",
            },
        },
    ),
    (
        ["cv"],
        {
            "--gammas": {
                "x": "--gammas must be numbers like 0.01,0.1,1 or auto, not 'x'",
            },
            "--folds": {
                "1": "--folds must be a whole number >= 2, not '1'",
            },
            "--seed": {
                "x": "--seed must be a whole number, not 'x'",
            },
        },
    ),
    (
        ["diagnose"],
        {
            "--k": {
                "0": "k = 0, but there are 3 features; choose k between 1 and 3",
            },
            "--time-limit": {
                "-1": "time_limit must be a finite number >= 0.1, not -1.0",
            },
        },
    ),
    (
        ["predict"],
        {
            "MODEL": {
                "missing.json": "missing.json does not exist; --out of parsifal fit writes one",
                "data.csv": "data.csv is not JSON; --out of parsifal fit writes a model",
                "newer.json": "newer.json is a model of version 99, and this Parsifal reads version 2; fit it again, or use the Parsifal that wrote it",
                "torn.json": "torn.json is not JSON; --out of parsifal fit writes a model",
                "list.json": "list.json is not a Parsifal model; --out of parsifal fit writes one",
                "folder": "folder is a folder; give a file",
                "proof.npz": "proof.npz is not JSON; --out of parsifal fit writes a model",
            },
            "--out": {
                "nowhere/m.json": "cannot write nowhere/m.json: No such file or directory; make its folder first",
                "folder": "cannot write folder: it is a folder; give a file's name",
            },
            "--drop": {
                "z": "--drop z is not a column of data.csv",
            },
        },
    ),
    (
        ["check"],
        {
            "PROOF": {
                "missing.npz": "missing.npz does not exist; --certificate of parsifal fit writes one",
            },
            "--target": {
                "z": "the proof is about 'y', not 'z'; leave --target out",
            },
            "--drop": {
                "z": "proof.npz says itself how its table was encoded; leave out --drop",
            },
            "--categorical": {
                "z": "proof.npz says itself how its table was encoded; leave out --categorical",
            },
            "--dates": {
                "z": "proof.npz says itself how its table was encoded; leave out --dates",
            },
            "--numbers": {
                "z": "proof.npz says itself how its table was encoded; leave out --numbers",
            },
            "--weights": {
                "z": "proof.npz says itself how its table was encoded; leave out --weights",
            },
            "--adjust": {
                "z": "proof.npz says itself how its table was encoded; leave out --adjust",
            },
        },
    ),
    (
        ["tour"],
        {
            "FOLDER": {
                "data.csv": "data.csv is a file; give a folder's name",
            },
        },
    ),
    (
        ["reproduce"],
        {
            "NAME": {
                "magic": "there is no experiment 'magic'; choose one of table1, figure1, figure-p, figure-k, figure-snr, nonlinear",
            },
            "--method": {
                "magic": "the method must be one of search, cutting-plane, cutting-plane-plus, not magic",
                "": "the method must be one of search, cutting-plane, cutting-plane-plus, not none",
            },
            "--gamma": {
                "x": "--gamma must be a number, not 'x'",
                "-1": "gamma must be a finite number > 0, not -1.0",
                "nan": "gamma must be a finite number > 0, not nan",
            },
            "--time-limit": {
                "-1": "the time limit must be > 0 seconds, not -1.0",
            },
            "--n": {
                "x": "--n: 'x' is not a number",
                "0": "n must be at least 1, not 0",
                "2.5": "--n: '2.5' is not a whole number",
            },
            "--values": {
                "x": "--values: 'x' is not a number",
            },
            "--cells": {
                "1,2": '--cells: \'1,2\' is not a cell; write k,p,n, such as "10,50000,10000" or "10,*,10000"',
            },
            "--p": {
                "0": "p must be at least 1, not 0",
                "x": "--p must be a whole number, not 'x'",
            },
            "--k": {
                "0": "k must be at least 1, not 0",
            },
            "--repeats": {
                "0": "repeats must be at least 1, not 0",
            },
            "--parts": {
                "magic": "figure1 has no part 'magic'; its parts are known-k, lasso, cv, lasso-cv, gamma",
            },
            "--jobs": {
                "0": "jobs must be at least 1, not 0",
                "x": "--jobs must be a whole number, not 'x'",
            },
            "--threads": {
                "0": "threads must be at least 1, not 0",
            },
            "--out": {
                "data.csv": "cannot write results to data.csv/figure1.jsonl: File exists; choose another --out",
            },
        },
    ),
]
