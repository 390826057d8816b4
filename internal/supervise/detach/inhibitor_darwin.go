package detach

// inhibitor keeps the machine awake while cat runs, which passes on what it reads.
var inhibitor = []string{"caffeinate", "-i", "-s", "cat"}
