#!/usr/bin/env bash
# Prints the Chromium that the browser tests drive: what CHROMIUM names, else the machine's own. If there is none, Debian's
# is installed where that may be done without asking; elsewhere this says the command.
set -euo pipefail

fail() { printf 'The browser tests need Chromium; %s, name yours with CHROMIUM=, or leave them out with BROWSER=skip.\n' "$*" >&2; exit 1; }

find_chromium() {
  if [ -n "${CHROMIUM:-}" ]; then
    command -v "$CHROMIUM" || fail "$CHROMIUM (as CHROMIUM says) is not there: install it"
    return
  fi
  local name
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" && return
  done
  return 1
}

if find_chromium; then exit; fi
if ! command -v apt-get >/dev/null; then fail "install it with your package manager"; fi
if [ "$(id -u)" != 0 ]; then fail "install it with sudo apt-get install chromium"; fi

echo "Bringing Debian's Chromium for the browser tests." >&2
export DEBIAN_FRONTEND=noninteractive
bring() { apt-get install -y -qq --no-install-recommends chromium >/dev/null; }
bring 2>/dev/null || { apt-get update -qq >&2 && bring >&2; } || fail "apt-get install chromium failed, try it yourself"
find_chromium
