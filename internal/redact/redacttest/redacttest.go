// Package redacttest makes credentials for tests: by length and alphabet like those of the vendors, and valid nowhere.
package redacttest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
)

// Maker draws credentials. One with the same seed draws the same.
type Maker struct{ rand *rand.Rand }

// New returns a maker.
func New(seed uint64) *Maker { return &Maker{rand.New(rand.NewPCG(seed, 0))} }

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
	alnum  = lower + upper + digits
	hexa   = "0123456789abcdef"
	urlish = alnum + "-_"
)

// draw is a text of an alphabet. It begins and ends with a letter or digit, as the tokens of vendors do who check them, and has
// a digit.
func (m *Maker) draw(alphabet string, n int) string {
	for {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[m.rand.IntN(len(alphabet))]
		}
		s := string(b)
		if strings.IndexByte(alnum, s[0]) >= 0 && strings.IndexByte(alnum, s[n-1]) >= 0 && (strings.ContainsAny(s, digits) || !strings.Contains(alphabet, digits)) {
			return s
		}
	}
}

// password is what a careful person or a program chooses: letters of either case, digits, now and then a sign.
func (m *Maker) password(n int) string {
	for {
		s := m.draw(alnum, n)
		if strings.ContainsAny(s, lower) && strings.ContainsAny(s, upper) && strings.ContainsAny(s, digits) {
			if m.rand.IntN(3) == 0 {
				s = s[:n/2] + string("!*.~-_"[m.rand.IntN(6)]) + s[n/2:]
			}
			return s
		}
	}
}

// phrase is a phrase of so many words, as wallets are recovered by.
func (m *Maker) phrase(n int) string {
	words := strings.Fields("abandon ability zone pupil ladder crane violin metal orbit tunnel salad wrist gauge jelly fabric noble cactus window rural yellow magnet tide spider canoe")
	m.rand.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return strings.Join(words[:n], " ")
}

// Shape is one kind of credential.
type Shape struct {
	Name string
	Make func(*Maker) string
}

func prefixed(name, prefix, alphabet string, n int) Shape {
	return Shape{name, func(m *Maker) string { return prefix + m.draw(alphabet, n) }}
}

// Tokens are the credentials that can be told by what they look like, wherever they stand.
var Tokens = []Shape{
	prefixed("Anthropic API key", "sk-ant-api03-", urlish, 95),
	prefixed("Anthropic admin key", "sk-ant-admin01-", urlish, 95),
	prefixed("Anthropic OAuth token", "sk-ant-oat01-", urlish, 95),
	prefixed("Anthropic refresh token", "sk-ant-ort01-", urlish, 95),
	{"OpenAI legacy key", func(m *Maker) string { return "sk-" + m.draw(alnum, 20) + "T3BlbkFJ" + m.draw(alnum, 20) }},
	{"OpenAI project key", func(m *Maker) string { return "sk-proj-" + m.draw(urlish, 74) + "T3BlbkFJ" + m.draw(urlish, 74) }},
	{"OpenAI service account", func(m *Maker) string { return "sk-svcacct-" + m.draw(urlish, 74) + "T3BlbkFJ" + m.draw(urlish, 74) }},
	prefixed("OpenRouter key", "sk-or-v1-", hexa, 64),
	prefixed("DeepSeek key", "sk-", hexa, 32),
	prefixed("xAI key", "xai-", alnum, 80),
	prefixed("Groq key", "gsk_", alnum, 52),
	prefixed("Perplexity key", "pplx-", alnum, 48),
	prefixed("Replicate token", "r8_", alnum, 37),
	prefixed("Hugging Face token", "hf_", lower+upper, 34),
	prefixed("NVIDIA key", "nvapi-", urlish, 64),
	prefixed("Cerebras key", "csk-", lower+digits, 48),
	prefixed("Fireworks key", "fw_", alnum, 24),
	prefixed("Tavily key", "tvly-", alnum, 32),
	{"LangSmith key", func(m *Maker) string { return "lsv2_pt_" + m.draw(hexa, 32) + "_" + m.draw(hexa, 10) }},
	{"Pinecone key", func(m *Maker) string { return "pcsk_" + m.draw(alnum, 6) + "_" + m.draw(alnum, 63) }},
	prefixed("GitHub classic token", "ghp_", alnum, 36),
	prefixed("GitHub OAuth token", "gho_", alnum, 36),
	prefixed("GitHub user token", "ghu_", alnum, 36),
	prefixed("GitHub app token", "ghs_", alnum, 36),
	prefixed("GitHub refresh token", "ghr_", alnum, 76),
	{"GitHub fine-grained token", func(m *Maker) string { return "github_pat_" + m.draw(alnum, 22) + "_" + m.draw(alnum, 59) }},
	prefixed("GitHub v1 token", "v1.", hexa, 40),
	prefixed("GitLab token", "glpat-", urlish, 20),
	prefixed("GitLab deploy token", "gldt-", urlish, 20),
	prefixed("GitLab runner token", "glrt-", urlish, 20),
	prefixed("GitLab trigger token", "glptt-", hexa, 40),
	prefixed("GitLab runner registration", "GR1348941", urlish, 20),
	prefixed("Google API key", "AIza", urlish, 35),
	prefixed("Google access token", "ya29.", urlish, 120),
	prefixed("Google client secret", "GOCSPX-", urlish, 28),
	prefixed("Google refresh token", "1//0", urlish, 60),
	prefixed("AWS key id", "AKIA", upper+"234567", 16),
	prefixed("AWS session key id", "ASIA", upper+"234567", 16),
	{"AWS secret key", func(m *Maker) string { return m.draw(alnum+"+/", 40) }},
	prefixed("AWS Bedrock key", "ABSK", alnum, 128),
	{"Azure storage key", func(m *Maker) string { return m.draw(alnum+"+/", 86) + "==" }},
	{"Azure application secret", func(m *Maker) string { return m.draw(alnum, 3) + "8Q~" + m.draw(alnum+"_~.-", 34) }},
	{"Slack bot token", func(m *Maker) string {
		return "xoxb-" + m.draw(digits, 12) + "-" + m.draw(digits, 12) + "-" + m.draw(alnum, 24)
	}},
	{"Slack user token", func(m *Maker) string {
		return "xoxp-" + m.draw(digits, 12) + "-" + m.draw(digits, 12) + "-" + m.draw(hexa, 32)
	}},
	{"Slack app token", func(m *Maker) string {
		return "xapp-1-A" + m.draw(upper+digits, 10) + "-" + m.draw(digits, 13) + "-" + m.draw(hexa, 64)
	}},
	{"Slack webhook", func(m *Maker) string {
		return "https://hooks.slack.com/services/T" + m.draw(upper+digits, 9) + "/B" + m.draw(upper+digits, 10) + "/" + m.draw(alnum, 24)
	}},
	{"Discord webhook", func(m *Maker) string {
		return "https://discord.com/api/webhooks/" + m.draw(digits, 18) + "/" + m.draw(urlish, 68)
	}},
	{"Discord bot token", func(m *Maker) string {
		return "M" + m.draw(alnum, 25) + "." + m.draw(alnum, 6) + "." + m.draw(urlish, 38)
	}},
	{"Telegram bot token", func(m *Maker) string { return "8" + m.draw(digits, 9) + ":AA" + m.draw(urlish, 33) }},
	prefixed("Stripe secret key", "sk_live_", alnum, 24),
	prefixed("Stripe test key", "sk_test_", alnum, 24),
	prefixed("Stripe restricted key", "rk_live_", alnum, 24),
	prefixed("Stripe webhook secret", "whsec_", alnum, 32),
	{"SendGrid key", func(m *Maker) string { return "SG." + m.draw(urlish, 22) + "." + m.draw(urlish, 43) }},
	{"Mailchimp key", func(m *Maker) string { return m.draw(hexa, 32) + "-us" + m.draw("123456789", 1) }},
	prefixed("Mailgun key", "key-", hexa, 32),
	prefixed("Brevo key", "xkeysib-", hexa, 64),
	prefixed("Twilio API key", "SK", hexa, 32),
	prefixed("DigitalOcean token", "dop_v1_", hexa, 64),
	prefixed("Heroku key", "HRKU-AA", urlish, 58),
	prefixed("Cloudflare token", "", alnum, 40),
	prefixed("Vercel token", "vcp_", alnum, 56),
	prefixed("Netlify token", "nfp_", alnum, 36),
	prefixed("Fly.io token", "fo1_", urlish, 43),
	prefixed("Supabase token", "sbp_", hexa, 40),
	prefixed("Supabase secret key", "sb_secret_", urlish, 31),
	prefixed("PlanetScale password", "pscale_pw_", urlish, 43),
	prefixed("Neon key", "napi_", lower+digits, 64),
	prefixed("Databricks token", "dapi", hexa, 32),
	prefixed("Doppler token", "dp.pt.", alnum, 43),
	prefixed("Vault token", "hvs.", urlish, 90),
	{"Terraform token", func(m *Maker) string { return m.draw(alnum, 14) + ".atlasv1." + m.draw(alnum, 67) }},
	prefixed("Pulumi token", "pul-", hexa, 40),
	prefixed("Grafana token", "glsa_", alnum, 41),
	prefixed("New Relic key", "NRAK-", upper+digits, 27),
	prefixed("Sentry token", "sntryu_", hexa, 64),
	prefixed("Postman key", "PMAK-", hexa, 59),
	prefixed("Linear key", "lin_api_", alnum, 40),
	prefixed("Notion token", "ntn_", alnum, 46),
	prefixed("Figma token", "figd_", urlish, 40),
	{"Airtable token", func(m *Maker) string { return "pat" + m.draw(alnum, 14) + "." + m.draw(hexa, 64) }},
	prefixed("Atlassian token", "ATATT3xFfGF0", urlish, 172),
	prefixed("Shopify token", "shpat_", hexa, 32),
	prefixed("Square token", "EAAA", urlish, 60),
	prefixed("npm token", "npm_", alnum, 36),
	prefixed("PyPI token", "pypi-AgEIcHlwaS5vcmc", urlish, 120),
	prefixed("RubyGems key", "rubygems_", hexa, 48),
	prefixed("crates.io token", "cio", alnum, 32),
	prefixed("NuGet key", "oy2", lower+digits, 43),
	prefixed("Docker token", "dckr_pat_", urlish, 27),
	prefixed("CircleCI token", "CCIPAT_", alnum, 62),
	prefixed("Buildkite token", "bkua_", hexa, 40),
	prefixed("SonarQube token", "squ_", hexa, 40),
	prefixed("Tailscale key", "tskey-auth-k", urlish, 40),
	prefixed("1Password service account", "ops_eyJ", alnum, 200),
	{"age key", func(m *Maker) string { return "AGE-SECRET-KEY-1" + m.draw("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58) }},
	{"JSON Web Token", func(m *Maker) string {
		return "eyJ" + m.draw(urlish, 30) + ".eyJ" + m.draw(urlish, 60) + "." + m.draw(urlish, 43)
	}},
	{"Alibaba Cloud key id", func(m *Maker) string { return "LTAI" + m.draw(alnum, 20) }},
	prefixed("Dynatrace token", "dt0c01.ST2EY72KQINMH574WMNVI7YN.", upper+"234567", 64),
	{"random word", func(m *Maker) string { return m.draw(alnum, 32+m.rand.IntN(32)) }},
	{"random base64", func(m *Maker) string { return base64.StdEncoding.EncodeToString([]byte(m.draw(alnum, 32))) }},
}

// Place is a credential that can be told by where it stands, in that place. The secret is a part of the text.
type Place struct {
	Name string
	Make func(*Maker) (text, secret string)
}

// in is a place for any password.
func in(format string) Place {
	return Place{strings.NewReplacer("%s", "…", "%%", "%").Replace(format), func(m *Maker) (string, string) {
		secret := m.password(10 + m.rand.IntN(20))
		return fmt.Sprintf(format, secret), secret
	}}
}

// Places are where passwords stand that look like nothing in particular.
var Places = []Place{
	in("Authorization: Bearer %s"), in("authorization: bearer %s"), in(`"Authorization": "Bearer %s"`), in("-H 'Authorization: Bearer %s'"), in("> authorization: token %s"),
	in("map[Authorization:[Bearer %s] Accept:[*/*]]"), in(`{\"headers\":{\"authorization\":\"Bearer %s\"}}`), in("x-api-key: %s"), in("X-Goog-Api-Key: %s"), in(`"x-api-key":"%s"`),
	in("Cookie: session=%s; other=1"), in("Set-Cookie: id=%s; Path=/"), in("PRIVATE-TOKEN: %s"), in("Proxy-Authorization: Basic %s"),
	in("AWS_SECRET_ACCESS_KEY=%s"), in("aws_secret_access_key = %s"), in("AWS_SESSION_TOKEN=%s"), in("OPENAI_API_KEY=%s"), in("export ANTHROPIC_AUTH_TOKEN='%s'"),
	in(`"client_secret": "%s"`), in(`{\"apiKey\":\"%s\"}`), in(`{\\\"apiKey\\\":\\\"%s\\\"}`), in("password=%s"), in("PGPASSWORD=%s psql"), in(`passwd: "%s"`), in("password: %s"), in("db.password: %s\nhost: x"),
	in("spring.datasource.password=%s"), in("pass=%s"), in("pwd=%s"), in("bearer=%s"), in("session=%s"), in("Password=%s;Database=x"), in("Server=tcp:x,1433;User Id=sa;Pwd=%s;Encrypt=yes"),
	in("DefaultEndpointsProtocol=https;AccountName=x;AccountKey=%s;EndpointSuffix=core.windows.net"), in("Endpoint=sb://x.net/;SharedAccessKeyName=root;SharedAccessKey=%s"),
	in("--api-key %s"), in("--token=%s"), in("--password %s"), in("--password '%s'"), in("curl -u ann:%s https://example.com"), in("curl --user ann:%s https://example.com"), in("mysql -p%s -h db"), in("mysqldump -uroot -p%s db"),
	in("sshpass -p%s ssh host"), in("https://ann:%s@example.com/x"), in("postgres://me:%s@db:5432/x"), in("https://x-access-token:%s@github.com/o/r"), in("mongodb+srv://u:%s@c.example.net/?x=1"), in("redis://:%s@host"),
	in("amqp://guest:%s@rabbit:5672/"), in("login failed for ann:%s@db.example.com"), in("the password is %s"), in("password for ann is %s"), in("her password was '%s'."), in("the token is %s now"), in("wrong passphrase \"%s\""),
	in("https://example.com/?api_key=%s&page=2"), in("GET /v1?access_token=%s HTTP/1.1"), in("https://example.com/cb?client_secret=%s"), in("body: grant_type=password&username=x&password=%s"), in("password%%3D%s"),
	in("secret => %s,"), in(`Error: login("ann", password="%s")`), in(`headers["x-auth-token"] = "%s"`), in("config: {user: ann, password: %s}"), in("npm config: //registry.example.com/:_authToken=%s"), in("machine x login ann password=%s"),
	in("<password>%s</password>"), in(`<add key="ApiKey" value="%s"/>`), in(`Config { user: "ann", token: Some("%s") }`), in("next=https%%3A%%2F%%2Fann%%3A%s%%40example.com%%2Fx"),
	// What attacks of the third review found.
	in(`Authorization: Token token="%s"`), in(`["--password","%s"]`), in(`argv: ['tool', '--api-key', '%s']`), in("CREATE USER ann IDENTIFIED BY '%s'"), in("ALTER USER ann IDENTIFIED WITH mysql_native_password BY \"%s\";"),
	in("jdbc:oracle:thin:scott/%s@//db:1521/x"), in("sqlplus -s scott/%s@orcl"), in("login failed for admin:%s@host"), in("scp u:%s@host:/tmp/x ."), in("https://u:a/%s@h"), in("ftp://u:a?b%s@h/x"), in(`https:\/\/u:%s@h\/x`),
	in("smbclient //h/s -U u%%%s"), in("rpcclient -U 'DOM\\u%%%s' h"), in("ldapsearch -x -D cn=admin -w %s"), in("redis-cli -h h -a %s ping"), in("mongosh -u u -p %s"), in("unzip -P %s a.zip"), in("zip -r -P %s a.zip x"), in("sqlcmd -S h -U sa -P %s"),
	in("xfreerdp /v:h /u:ann /p:%s"), in(`net use \\h\s %s`), in(`net use z: \\h\s %s /user:ann`), in("echo %s | gh auth login --with-token"), in("printf '%%s' \"%s\" | docker login -u x --password-stdin"), in("gh auth login --with-token <<< %s"),
	in("db.internal:5432:app:ann:%s"), in("*:*:*:postgres:%s"), in(`<wsse:Password Type="x">%s</wsse:Password>`), in(`&lt;password&gt;%s&lt;/password&gt;`), in("ConvertTo-SecureString '%s' -AsPlainText -Force"), in(`"%s" | ConvertTo-SecureString -AsPlainText`),
	in(`network={ssid="x" psk="%s"}`), in("snmpwalk -v2c -c %s h"), in(`Digest username="ann", realm="x", nonce="y", uri="/", response="%s"`), in(`Hawk id="x", ts="1", nonce="y", mac="%s"`), in("API key (%s) is not valid"), in("wrong key: %s"),
	in("Incorrect API key provided: %s."), in("'%s' is not a valid API key"), in("invalid token `%s`"), in("password=<%s>"), in("password(%s)"), in("setPassword(\"%s\")"), in("encrypted_data_bag_secret %s"), in("password=\x1b[31m%s\x1b[0m"),
	in("\x1b[1mpassword\x1b[0m: \x1b[32m%s"), in(`password=\u001b[31m%s`), in("{&quot;password&quot;:&quot;%s&quot;}"), in(`{\u0022password\u0022:\u0022%s\u0022}`), in("rabbitmqctl add_user ann %s"), in("requirepass %s"), in("mosquitto_pub -u ann -P %s -t x"),
	in("- name: DB_PASSWORD\n  value: %s"), in(`{"name":"API_TOKEN","value":"%s"}`), in("password: |\n  %s"), in("<key>Password</key><string>%s</string>"), in("OAuth oauth_consumer_key=\"x\", oauth_signature=\"%s\""), in("X-Vault-Token: %s"), in("AUTH %s"),
	in("lftp -u ann,%s sftp://h"), in("openssl enc -pass pass:%s"), in("7z x -p%s a.7z"), in("skopeo copy --src-creds ann:%s docker://h/x"), in("net user ann %s /add"), in(`CREATE USER MAPPING FOR u SERVER s OPTIONS (user 'ann', password '%s')`),
	in("https://ci.hooks.slack.com/services/T0123ABCD/B0123ABCD/%s"), in("POST https://acme.webhook.office.com/webhookb2/x@y/IncomingWebhook/%s: 400"), in("https://ptb.discord.com/api/v10/webhooks/123456789012345678/%s"),
	{"seed phrase", func(m *Maker) (string, string) {
		secret := m.phrase(12)
		return "seed phrase: " + secret, secret
	}},
	{"seed phrase without a label", func(m *Maker) (string, string) {
		secret := m.phrase(24)
		return "cannot import " + secret, secret
	}},
	in("sshpass -p %s ssh host"), in("docker login -u ann -p %s registry.example.com: unauthorized"),
	{"netrc", func(m *Maker) (string, string) {
		secret := "1" + m.draw(alnum, 10) + "b"
		return "machine api.example.com login ann password " + secret, secret
	}},
	{"FTP", func(m *Maker) (string, string) {
		secret := "1" + m.draw(alnum, 10) + "b"
		return "> USER ann\n> PASS " + secret, secret
	}},
	{"SAS of Azure", func(m *Maker) (string, string) {
		secret := url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(m.draw(alnum, 32))))
		return "https://x.blob.core.windows.net/c/b?sv=2022-11-02&sr=b&sig=" + secret + "&se=2026-01-01", secret
	}},
	{"basic credentials", func(m *Maker) (string, string) {
		secret := base64.StdEncoding.EncodeToString([]byte("ann:" + m.password(12)))
		return "> Authorization: Basic " + secret, secret
	}},
	{"basic credentials in prose", func(m *Maker) (string, string) {
		secret := base64.StdEncoding.EncodeToString([]byte("ann:" + m.password(12)))
		return "sent Basic " + secret + " and was refused", secret
	}},
	{"token as the user of a URL", func(m *Maker) (string, string) {
		secret := m.password(24)
		return "fatal: unable to access 'https://" + secret + "@git.example.com/o/r.git/'", secret
	}},
	{"private key", func(m *Maker) (string, string) {
		secret := m.draw(alnum+"+/", 64)
		return "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\n" + secret + "\n-----END OPENSSH PRIVATE KEY-----", secret
	}},
	{"private key in JSON", func(m *Maker) (string, string) {
		secret := m.draw(alnum+"+/", 64)
		return `{"private_key":"-----BEGIN PRIVATE KEY-----\n` + secret + `\n-----END PRIVATE KEY-----\n"}`, secret
	}},
	{"private key that was cut off", func(m *Maker) (string, string) {
		secret := m.draw(alnum+"+/", 50)
		return "read -----BEGIN RSA PRIVATE KEY-----\n" + secret, secret
	}},
	{"digest credentials", func(m *Maker) (string, string) {
		secret := m.draw(hexa, 32)
		return `Authorization: Digest username="ann", realm="x", response="` + secret + `"`, secret
	}},
}
