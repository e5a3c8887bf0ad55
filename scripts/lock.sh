#!/usr/bin/env bash
# Writes requirements/*.lock anew: the newest versions that pyproject.toml and requirements/*.in allow, for every Python
# from 3.10 on, with the hash of every file that may be installed. With `--keep`, only what must change.
set -euo pipefail
cd "$(dirname "$0")/.."
uv=${UV:?the uv command, as set by the Makefile}
[ "${1:-}" = --keep ] || rm -f requirements/*.lock

lock() {  # name, then what else to give
    local name=$1
    shift
    # A comment names the command, not the machine: neither an index nor a path of this one enters the file.
    "$uv" pip compile --quiet --universal --python-version "${oldest:-3.10}" --generate-hashes --no-emit-index-url \
        --no-emit-find-links --custom-compile-command "make lock" -o "requirements/$name.lock" "requirements/$name.in" "$@"
    echo "requirements/$name.lock: $(grep -c '==' "requirements/$name.lock") pins"
}

lock dev pyproject.toml --extra dev
# The first into the environment that the second completes, so with the same versions.
lock run pyproject.toml --constraints requirements/dev.lock
lock data --no-deps
lock build
lock browser
# Into the same environment as dev, so with the same versions; MyST for Python 3.10 does not go with them.
oldest=3.11 lock docs pyproject.toml --extra docs --constraints requirements/dev.lock
if grep -nE '://|file:|(^|[ =@])/' requirements/*.lock; then
    echo "a lock file names a place of this machine" >&2
    exit 1
fi
