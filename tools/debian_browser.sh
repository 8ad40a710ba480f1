# Prints where a browser is: what its variable names, else the machine's own. If there is none, Debian's is installed where that may be done
# without asking; elsewhere this says the command. Read by tools/chromium.sh and tools/firefox.sh, which set:
#   title      how people call it              package   Debian's package of it
#   variable   what names another one          names     the commands it may have
#   instead    how to do without it
fail() { printf 'The tests of the page need %s; %s, name yours with %s=, or %s.\n' "$title" "$*" "$variable" "$instead" >&2; exit 1; }

find_browser() {
  local given=${!variable:-} name
  if [ -n "$given" ]; then
    command -v "$given" || fail "$given (as $variable says) is not there: install it"
    return
  fi
  for name in $names; do
    command -v "$name" && return
  done
  return 1
}

bring() { apt-get install -y -qq --no-install-recommends "$package" >/dev/null; }

print_browser() {
  if find_browser; then exit; fi
  if ! command -v apt-get >/dev/null; then fail "install it with your package manager"; fi
  if [ "$(id -u)" != 0 ]; then fail "install it with sudo apt-get install $package"; fi
  echo "Bringing Debian's $title for the tests of the page." >&2
  export DEBIAN_FRONTEND=noninteractive
  bring 2>/dev/null || { apt-get update -qq >&2 && bring >&2; } || fail "apt-get install $package failed, try it yourself"
  find_browser
}
