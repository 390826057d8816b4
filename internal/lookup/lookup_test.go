package lookup

import "testing"

func TestTable(t *testing.T) {
	table := Table[string, int]{{"none", 0}, {"one", 1}}
	if got, ok := table.Find("none"); got != 0 || !ok {
		t.Error(got, ok)
	}
	if got, ok := table.Find("two"); got != 0 || ok {
		t.Error(got, ok)
	}
	if table.Of("one") != 1 || table.Of("two") != 0 || (Table[string, int])(nil).Of("one") != 0 {
		t.Error("Of and Find differ")
	}
}
