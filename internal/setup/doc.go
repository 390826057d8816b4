// Package setup makes of a command line and its settings what the engine runs: the profile of the command ([Profile]) and its [Runner], with fallbacks, budgets,
// check and ceilings. A flag that does nothing for this command is named ([IdleFlags]), and the engine's causes are told with the flags that help.
//
// It is what belay run, belay batch and those that explain them have in common; it starts nothing.
package setup
