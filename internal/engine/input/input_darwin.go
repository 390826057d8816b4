package input

// fionread is FIONREAD, which the unix package does not name here.
const fionread = 0x4004667f
