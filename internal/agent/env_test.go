package agent

import "testing"

func TestGetenv(t *testing.T) {
	env := []string{"A=first", "A_B=other", "A=last", "EMPTY=x", "EMPTY=", "URL=http://h/?q=1", "=C:=C:\\dir", "NOTHING", ""}
	for name, want := range map[string]string{
		"A": "last", "A_B": "other", "EMPTY": "", "URL": "http://h/?q=1", "NOTHING": "", "B": "", "UR": "", "URL=http": "",
	} {
		if got := Getenv(env, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	t.Setenv("A", "that of this process")
	if got := Getenv(nil, "A"); got != "" {
		t.Errorf("in a nil environment: %q", got)
	}
}

// On Windows the name of a variable is found in any case, elsewhere only as it is written.
func TestGetenv_Case(t *testing.T) {
	for _, fold := range []bool{true, false} {
		if value, ok := valueOf("APPDATA=x", "AppData", fold); ok != fold || ok && value != "x" {
			t.Errorf("%v: %q, %v", fold, value, ok)
		}
	}
}
