#!/usr/bin/env bash
# Prints the Firefox that `make faces` drives beside Chromium.
set -euo pipefail

title=Firefox
package=firefox-esr
variable=FIREFOX
names="firefox-esr firefox"
instead="run the others alone: .venv/bin/python -m pytest -m faces tests/faces --deselect tests/faces/test_firefox.py"
. "$(dirname "$0")/debian_browser.sh"
print_browser
