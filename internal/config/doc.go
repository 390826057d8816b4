// Package config knows Belay's settings: their names, what they take, and where their values come from. A flag, an
// environment variable, a project's file, the user's file and a preset are layers of one table, and a value is read
// by the same function whichever layer it stands in. A project's file is not trusted: [Scope] says what it may do.
//
// In the order of the data: [Table] has a row for each setting, which says what it takes ([Setting], and the readers of values) and where
// it goes ([Settings]). A file is parsed, and all that it says is checked, its tables of rules, alerts, budgets and others too. [Load]
// puts the layers together; a project's file has its say last, as far as it bounds what is in force without it. [Settings.Policy] is what the
// settings come to for the retries, and [Show] is where each comes from.
package config
