package config

// Shown is one setting as [Show] reports it.
type Shown struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// Show returns every setting that has a value outside of a call, and where that comes from.
func Show(profile string) ([]Shown, error) {
	s, _, err := Load(nil, profile)
	if err != nil {
		return nil, err
	}
	var list []Shown
	for i := range Table {
		t := &Table[i]
		if from := s.From(t.Name); from != "" {
			list = append(list, Shown{t.Name, s.Text(t.Name), from})
		}
	}
	return list, nil
}

// Files are the files that are read for a command in dir.
func Files(dir string) []string {
	var files []string
	for _, path := range []string{findProject(dir), UserFile()} {
		if path != "" {
			files = append(files, path)
		}
	}
	return files
}
