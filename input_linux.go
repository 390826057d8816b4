package belay

import "golang.org/x/sys/unix"

const fionread = unix.TIOCINQ
