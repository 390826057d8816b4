#!/bin/sh
# Shows the open issues, and makes one that says how many there are.
set -e
open=$(belay run -- gh issue list -R acme/shop --json title --jq '.[].title')
echo "$open"
belay run --verify-effect -- gh issue create -R acme/shop --title "Open: $(echo "$open" | wc -l)" --body "$open"
