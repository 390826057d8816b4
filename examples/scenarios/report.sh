#!/bin/sh
# Asks for a report, and posts it. A lost answer of GitHub is looked into before anything is posted again.
set -e
belay run -- claude -p "Summarize the open incidents" >report.md
belay run --verify-effect -- gh issue create -R acme/shop --title "Incidents" --body-file report.md
