package redact

import (
	"slices"
	"strings"
	"sync"
)

// client is a program that is given a password on its command line. Its usage has V in the place of the password, X for any other
// word, … for any number of them, and U for a user before a sign: -p V, -pV, -U U%V, login … -p V. Several usages are set apart by |.
type client struct{ programs, usage string }

// clients are the programs that take passwords, but those whose options have a name that says so, such as --password.
var clients = [...]client{
	{"mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mysqlbinlog mysqlsh mariadb mariadb-dump mariadb-admin xtrabackup mydumper mycli", "-pV"},
	{"mysqladmin", "password V"},
	{"mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop cqlsh cypher-shell beeline rabbitmqadmin influx psexec psexec64 rdesktop evil-winrm crackmapexec nxc hydra twine conan racadm vncdo", "-p V | -pV"},
	{"sqlcmd bcp osql isql tsql ipmitool mosquitto_pub mosquitto_sub unzip zip", "-P V | -PV"},
	{"7z 7za 7zz rar unrar arj", "-pV | -hpV"},
	{"redis-cli keydb-cli valkey-cli", "-a V | auth V | AUTH V | requirepass V"},
	{"ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldapcompare ldapmodrdn ldapexop", "-w V | -wV"},
	{"ldappasswd", "-w V | -s V | -a V"},
	{"smbclient rpcclient smbget smbcacls smbcquotas smbtree winexe wmic net nmblookup samba-tool", "-U U%V | --user=U%V | --user U%V | -UU%V"},
	{"samba-tool", "create X V | setpassword X V"},
	{"snmpwalk snmpget snmpset snmpgetnext snmpbulkwalk snmpbulkget snmptable snmpstatus snmptrap", "-c V | -A V | -X V"},
	{"docker podman nerdctl buildah skopeo helm oras crane regctl az oc cf ibmcloud", "login … -p V"},
	{"sshpass", "-p V | -pV"},
	{"lftp ncftp", "-u U,V | -p V"},
	{"http https xh httpie", "-a U:V | --auth U:V"},
	{"htpasswd", "-b X X V | -bc X X V | -cb X X V | -nb X V | -nbB X V | -nbm X V | -bB X X V"},
	{"ssh-keygen", "-N V | -P V"},
	{"openssl", "-k V | -K V"},
	{"security", "unlock-keychain … -p V | import … -P V | add-generic-password … -w V | add-internet-password … -w V"},
	{"usermod useradd", "-p V"},
	{"dscl", "-passwd X V"},
	{"rabbitmqctl", "add_user X V | change_password X V | authenticate_user X V"},
	{"vault cargo", "login V"},
	{"dotnet nuget", "-k V"},
	{"curl", "-uU:V | -UU:V | -E U:V | --oauth2-bearer V"},
	{"schtasks", "/RP V | /rp V"},
	{"wpa_passphrase", "X V"},
	{"rclone", "obscure V"},
	{"kadmin kinit", "-w V | -pw V"},
	{"pscp plink psftp putty", "-pw V"},
	{"cvs", "-d :pserver:U:V"},
	{"knife", "-P V | -s V"},
}

// usages are the clients by their programs.
var usages = sync.OnceValue(func() map[string][][]string {
	all := map[string][][]string{}
	for _, c := range clients {
		for program := range strings.FieldsSeq(c.programs) {
			for usage := range strings.SplitSeq(c.usage, " | ") {
				all[program] = append(all[program], strings.Fields(usage))
			}
		}
	}
	return all
})

// byClient returns the passwords on the command lines of [clients].
func byClient(s string) (found []span) {
	if strings.IndexByte(s, ' ') < 0 && strings.IndexByte(s, ',') < 0 {
		return nil
	}
	for i := 0; i < len(s); i++ {
		if !isAlnum(s[i]) || i > 0 && (dashed.has(s[i-1]) || s[i-1] == '.') {
			continue
		}
		j := i + run(s, i, dashed, len(s))
		if list := usages()[s[i:j]]; list != nil {
			line := wordsAfter(s, j)
			for _, usage := range list {
				for n := range line {
					if p, ok := matchUsage(s, usage, line[n:]); ok {
						found = append(found, p)
					}
				}
			}
		}
		i = j
	}
	return found
}

// maxWords is how many words of a command line are looked at.
const maxWords = 48

// lineWord is a word of a command line.
type lineWord struct {
	span
	quoted bool
}

// wordsAfter are the words behind the name of a program that ends at i, up to the end of its command, in a shell or in a list.
func wordsAfter(s string, i int) (list []lineWord) {
	i = skipQuote(s, i+len(s[i:min(len(s), i+4)])-len(strings.TrimPrefix(s[i:min(len(s), i+4)], ".exe")))
	for len(list) < maxWords && i < len(s) {
		begun := i
		for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == ',') {
			i++
		}
		if i == len(s) || strings.IndexByte("\n\r|;&)]}", s[i]) >= 0 || i == begun && !isQuote(s[i]) && s[i] != '\\' {
			break
		}
		quoted, from, to := read(s, i)
		if !quoted {
			for to = from; to < len(s) && s[to] > ' ' && strings.IndexByte("|;)]}\"'`\\", s[to]) < 0; {
				to++
			}
		}
		if to <= from {
			break
		}
		if list = append(list, lineWord{span{from, to}, quoted}); quoted {
			to = skipQuote(s, to)
		}
		i = to
	}
	return list
}

// matchUsage returns the password of a command line that has a usage where its words begin.
func matchUsage(s string, usage []string, line []lineWord) (p span, ok bool) {
	for n, want := range usage {
		if want == "…" {
			for ; n < len(line) && !ok; n++ {
				p, ok = matchUsage(s, usage[slices.Index(usage, want)+1:], line[n:])
			}
			return p, ok
		}
		if n >= len(line) {
			return p, false
		}
		w := line[n]
		text := s[w.from:w.to]
		prefix, glued := strings.CutSuffix(want, "V")
		switch {
		case want == "X" && text[0] != '-':
		case want == "V":
			p = w.span
		case glued && len(prefix) >= 2 && (prefix[len(prefix)-2] == 'U'): // U%V, perhaps behind an option
			option, sign := prefix[:len(prefix)-2], prefix[len(prefix)-1:]
			rest, found := strings.CutPrefix(text, option)
			user, _, signed := strings.Cut(rest, sign)
			if !found || !signed {
				return p, false
			}
			p = span{w.from + len(option) + len(user) + 1, w.to}
		case glued && text == prefix && n+1 < len(line) && line[n+1].quoted && line[n+1].from == w.to+1: // -p'…'
			p = line[n+1].span
		case glued && strings.HasPrefix(text, prefix) && len(text) > len(prefix):
			p = span{w.from + len(prefix), w.to}
		case text != want:
			return p, false
		}
		if p.to > 0 {
			secret := s[p.from:p.to]
			return p, p.from < p.to && !isPlaceholder(secret) && (w.quoted || secret[0] != '-' && !isSentenceWord(secret))
		}
	}
	return p, false
}
