module github.com/belay-run/belay/bench

go 1.26.0

replace github.com/belay-run/belay => ../

require (
	github.com/avast/retry-go/v5 v5.0.0
	github.com/belay-run/belay v0.0.0-00010101000000-000000000000
	github.com/cenkalti/backoff/v7 v7.0.1
	github.com/failsafe-go/failsafe-go v0.9.8
	github.com/sony/gobreaker/v2 v2.4.0
)

require github.com/bits-and-blooms/bitset v1.24.4 // indirect
