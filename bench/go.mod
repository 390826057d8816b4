module github.com/belay-run/belay/bench

go 1.26

replace github.com/belay-run/belay => ../
