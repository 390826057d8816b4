#!/bin/sh
# What many scripts do: try all of it again until it works.
for n in 1 2 3; do
  claude -p "Summarize the open incidents" >report.md &&
    gh issue create -R acme/shop --title "Incidents" --body-file report.md && exit 0
  sleep 1
done
exit 1
