package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// sbom writes what the executables are made of, as they say themselves, in the form of SPDX 2.3.
func (r *release) sbom(list []platform) error {
	type external struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	type checksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	type pkg struct {
		ID        string     `json:"SPDXID"`
		Name      string     `json:"name"`
		Version   string     `json:"versionInfo,omitempty"`
		Location  string     `json:"downloadLocation"`
		Analyzed  bool       `json:"filesAnalyzed"`
		License   string     `json:"licenseConcluded"`
		Declared  string     `json:"licenseDeclared"`
		Copyright string     `json:"copyrightText"`
		Checksums []checksum `json:"checksums,omitempty"`
		External  []external `json:"externalRefs,omitempty"`
	}
	type relation struct {
		From string `json:"spdxElementId"`
		Type string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
	doc := struct {
		Version   string `json:"spdxVersion"`
		License   string `json:"dataLicense"`
		ID        string `json:"SPDXID"`
		Name      string `json:"name"`
		Namespace string `json:"documentNamespace"`
		Creation  struct {
			Created  string   `json:"created"`
			Creators []string `json:"creators"`
		} `json:"creationInfo"`
		Packages  []pkg      `json:"packages"`
		Relations []relation `json:"relationships"`
	}{Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: name + "-" + r.Version}
	doc.Creation.Created, doc.Creation.Creators = r.time.Format(time.RFC3339), []string{"Tool: belay-dist"}

	listed := map[string]bool{}
	hash := sha256.New()
	for _, p := range list {
		linked, err := r.modules(p)
		if err != nil {
			return err
		}
		known := map[string]string{}
		for _, m := range linked {
			known[m.path] = m.license
		}
		for _, e := range p.executables() {
			path := r.built(p, e)
			info, err := buildinfo.ReadFile(path)
			if err != nil {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			hash.Write(sum[:])
			id := "SPDXRef-" + spdxID(p.os+"-"+p.arch+"-"+e)
			doc.Packages = append(doc.Packages, pkg{ID: id, Name: e + " for " + p.String(), Version: r.Version, Location: homepage, License: expression(linked), Declared: license,
				Copyright: "NOASSERTION", Checksums: []checksum{{"SHA256", hex.EncodeToString(sum[:])}}})
			doc.Relations = append(doc.Relations, relation{doc.ID, "DESCRIBES", id})
			for _, m := range append(slices.Clone(info.Deps), &debug.Module{Path: stdlib, Version: strings.TrimPrefix(info.GoVersion, "go")}) {
				dep := "SPDXRef-" + spdxID(m.Path+"-"+m.Version)
				doc.Relations = append(doc.Relations, relation{id, "DEPENDS_ON", dep})
				if listed[dep] {
					continue
				}
				listed[dep] = true
				if known[m.Path] == "" {
					return fmt.Errorf("%s names %s, which is not among the modules that go list names", e, m.Path)
				}
				doc.Packages = append(doc.Packages, pkg{ID: dep, Name: m.Path, Version: m.Version, Location: "NOASSERTION", License: known[m.Path], Declared: known[m.Path],
					Copyright: "NOASSERTION", External: []external{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + m.Version}}})
			}
		}
	}
	doc.Namespace = fmt.Sprintf("%s/sbom/%s-%x", homepage, r.Version, hash.Sum(nil)[:8])
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return r.add(fmt.Sprintf("%s_%s.spdx.json", name, r.Version), append(text, '\n'))
}

// spdxID has only characters that an id may have.
func spdxID(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '-' {
			return c
		}
		return '-'
	}, text)
}
