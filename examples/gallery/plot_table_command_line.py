"""
A table, from the shell
=======================

Everything here is done with the command ``parsifal``: a fit with its proof and a report, the path over k,
predictions, and the check of the proof. Python only writes the table and runs the commands.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes

folder = tempfile.TemporaryDirectory()
table = load_diabetes(as_frame=True).frame
table.to_csv(Path(folder.name) / "diabetes.csv", index=False)


def shell(*words: str) -> str:
    """Run one command in the folder of the table, show it, and return what it prints."""
    print("$ parsifal " + " ".join(words))
    command = [sys.executable, "-m", "parsifal", *words]
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONUTF8": "1"}
    done = subprocess.run(
        command, cwd=folder.name, env=environment, check=True, encoding="utf-8", stdout=-1, stderr=subprocess.DEVNULL
    )
    return done.stdout


# %%
# The best four features, a model file, the proof, and a page to show.

print(
    shell("fit", "diabetes.csv", "--target", "target", "--k", "4", "--out", "model.json", "--certificate", "proof.npz")
)

# %%
# Whoever has the table can check the proof; ``--exact`` does it in exact arithmetic.

print(shell("check", "proof.npz", "diabetes.csv"))

# %%
# The best model of every size. In scripts, ``--json`` prints one object.

print(shell("path", "diabetes.csv", "--target", "target", "--ks", "1-6"))

# %%
# Predictions need the columns of the chosen features only.

shell("predict", "model.json", "diabetes.csv", "--out", "predictions.csv")
lines = (Path(folder.name) / "predictions.csv").read_text(encoding="utf-8").splitlines()
predicted = [float(line.split(",")[-1]) for line in lines[1:]]
model = json.loads((Path(folder.name) / "model.json").read_text(encoding="utf-8"))
print(f"model.json has {', '.join(model)}")

_, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
ax.plot(table["target"], predicted, ".", color="#1f6fb2", alpha=0.6)
ax.plot([25, 346], [25, 346], color="#888888", lw=1, ls="--")
ax.set(xlabel="disease progression", ylabel="predicted from four features")
ax.spines[["top", "right"]].set_visible(False)

folder.cleanup()
plt.show()
