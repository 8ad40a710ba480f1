#!/usr/bin/env bash
# Prints the Chromium that the browser tests drive.
set -euo pipefail

title=Chromium
package=chromium
variable=CHROMIUM
names="chromium chromium-browser google-chrome google-chrome-stable"
instead="leave them out with BROWSER=skip"
. "$(dirname "$0")/debian_browser.sh"
print_browser
