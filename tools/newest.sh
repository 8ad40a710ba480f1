#!/usr/bin/env bash
# Tests the core on the newest Python of this machine, in an environment of its own (.venv-newest).
#
# The core is what every program uses: the pure layers, the ledger, the conductor, replay and the SQLite store. Extras,
# servers and the page are left to `make test`, because their packages follow a new Python later.
#
#   tools/newest.sh            set up what is needed and run the tests; one line if there is no newer Python
#   tools/newest.sh --python   print that Python; nothing if there is none
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv-newest
core=(
  tests/rules
  tests/runtime/test_branching.py tests/runtime/test_commits.py tests/runtime/test_conductor.py
  tests/runtime/test_event_loop.py tests/runtime/test_failing_store.py tests/runtime/test_observers.py
  tests/runtime/test_replay.py tests/runtime/test_subscribers.py
  tests/contracts/test_store_contract.py tests/contracts/test_sqlite_store.py tests/contracts/test_word_index.py
  # These need extras.
  --ignore=tests/rules/test_public_face.py --ignore=tests/rules/tools/test_mcp_described.py
  --ignore=tests/rules/models/test_price_proposals.py
  -k 'not postgres'
)

fail() { printf 'make newest: %s\n' "$*" >&2; exit 1; }

# A number that can be compared, such as 313 for Python 3.13; 0 if it is unfinished, cannot run or cannot make a venv.
number_of() {
  "$1" -c 'import ensurepip, sys, venv
v = sys.version_info
print(v[0] * 100 + v[1] if v.releaselevel == "final" else 0)' 2>/dev/null || echo 0
}

# Every Python that this machine may have: on the path, from pyenv, from uv. Nothing is said about whether it runs.
candidates() {
  local folder
  compgen -c python3. | grep -E '^python3\.[0-9]+$' | sort -u || true
  for folder in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin "${UV_PYTHON_INSTALL_DIR:-$HOME/.local/share/uv/python}"/*/bin; do
    if [ -x "$folder/python3" ]; then printf '%s\n' "$folder/python3"; fi
  done
}

# Prints the newest Python, if it is newer than the one of .venv.
newest_python() {
  local candidate number newest="" most
  most=$(number_of "$(tools/setup.sh --python)")
  while read -r candidate; do
    number=$(number_of "$candidate")
    if [ "$number" -gt "$most" ]; then newest=$candidate most=$number; fi
  done < <(candidates)
  printf '%s' "$newest"
}

python=$(newest_python)
if [ "${1:-}" = --python ]; then printf '%s\n' "$python"; exit; fi
if [ -z "$python" ]; then
  echo "make newest: skipped, because this machine has no Python newer than $(tools/setup.sh --python)."
  exit
fi

wanted="$PWD $python $(cat requirements/core.txt pyproject.toml bin/glasshouse | cksum)"
if [ "$(cat "$venv/stamp" 2>/dev/null)" != "$wanted" ]; then
  echo "Setting up $venv with $("$python" --version)."
  "$python" -m venv --clear "$venv"
  pip=("$venv/bin/python" -m pip --no-input --disable-pip-version-check install --quiet)
  "${pip[@]}" --require-hashes --only-binary :all: -r requirements/core.txt > "$venv/setup.log" 2>&1 \
    || fail "the locked packages could not be installed; the whole story is in $venv/setup.log."
  "${pip[@]}" --no-deps --no-build-isolation -e . >> "$venv/setup.log" 2>&1 \
    || fail "Glasshouse itself could not be installed; the whole story is in $venv/setup.log."
  printf '%s' "$wanted" > "$venv/stamp"
fi
echo "The core on $("$venv/bin/python" --version):"
# Without a cache: it belongs to the other Python.
GLASSHOUSE_HYPOTHESIS=quick "$venv/bin/python" -m pytest -q -p no:cacheprovider -n "${JOBS:-2}" --dist worksteal "${core[@]}"
