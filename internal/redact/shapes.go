package redact

import (
	"strings"
	"sync"
)

// alphabet says which characters the body of a token is made of.
type alphabet uint8

const (
	hexa   alphabet = iota // 0-9 a-f, either case
	digits                 // 0-9
	upper                  // capital letters and digits
	alnum                  // letters and digits
	word                   // those and _
	dashed                 // those and -
	dotted                 // those and .
	base64                 // letters, digits, + / = _ -
	urlish                 // all of them, and what else may stand in the path of a URL
)

func (a alphabet) has(b byte) bool {
	switch a {
	case hexa:
		return isHex(b)
	case digits:
		return isDigit(b)
	case upper:
		return isUpper(b) || isDigit(b)
	}
	return isAlnum(b) || strings.IndexByte(signs[a], b) >= 0
}

// signs are what an alphabet has beside letters and digits.
var signs = [...]string{word: "_", dashed: "_-", dotted: "_-.", base64: "+/=_-", urlish: "_-./%=+~@:&?!$"}

// tokenShape is what tokens of one kind look like: how they begin, and at least how much of which characters follows.
type tokenShape struct {
	vendor   string
	prefixes string // with a comma in between
	body     alphabet
	min      int
}

// shapes are the tokens of vendors. Where one prefix begins another, the one with which more is a token counts. The lengths are a
// little below those of today's tokens.
var shapes = [...]tokenShape{
	{"1Password secret key", "A3-", dashed, 30},
	{"1Password service account", "ops_eyJ", base64, 100},
	{"42", "s-s4t2af-, s-s4t2ud-", hexa, 60},
	{"Adyen", "AQE", base64, 40},
	{"age", "AGE-SECRET-KEY-1, AGE-SECRET-KEY-PQ-1", upper, 40},
	{"Alibaba Cloud", "LTAI", alnum, 14},
	{"Amazon", "Atza|", base64, 40},
	{"Anthropic", "sk-ant-", dashed, 12},
	{"Anyscale", "esecret_", alnum, 20},
	{"Apify", "apify_api_", alnum, 30},
	{"Artifactory", "AKCp", alnum, 20},
	{"Artifactory reference token", "cmVmdGtuO", base64, 40},
	{"Atlassian", "ATATT, ATCTT, ATSTT", base64, 40},
	{"AWS Bedrock API key", "ABSK", base64, 60},
	{"AWS Bedrock API key", "bedrock-api-key-", base64, 40},
	{"AWS key id", "ABIA, ACCA, AIDA, AKIA, APKA, AROA, ASIA", upper, 16},
	{"Bitbucket", "ATBB", alnum, 24},
	{"Bitbucket Data Center", "BBDC-", base64, 30},
	{"Brevo", "xkeysib-, xsmtpsib-", dashed, 60},
	{"Buildkite", "bkct_, bkpt_", alnum, 30},
	{"Buildkite", "bkua_", hexa, 40},
	{"Cerebras", "csk-", alnum, 40},
	{"CircleCI", "CCIPAT_, CCIPRJ_", word, 30},
	{"Clojars", "CLOJARS_", alnum, 50},
	{"Cloudflare", "cfk_", alnum, 30},
	{"Cloudflare", "cfut_", dashed, 30},
	{"Cloudflare origin CA", "v1.0-", dashed, 140},
	{"Contentful", "CFPAT-", dashed, 35},
	{"Context7", "ctx7sk-", dashed, 30},
	{"crates.io", "cio", alnum, 32},
	{"Databricks", "dapi", hexa, 32},
	{"DigitalOcean", "doo_v1_, dop_v1_, dor_v1_", hexa, 40},
	{"Discord", "mfa.", dashed, 40},
	{"Docker", "dckr_oat_, dckr_pat_", dashed, 24},
	{"Docker Swarm", "SWMTKN-1-", dashed, 40},
	{"Doppler", "dp.audit., dp.ct., dp.pt., dp.sa., dp.scim.", alnum, 30},
	{"Doppler", "dp.st.", dotted, 30},
	{"Dropbox", "sl.", dashed, 60},
	{"Duffel", "duffel_live_, duffel_test_", dashed, 40},
	{"Dynatrace", "dt0c01., dt0s01., dt0s16.", dotted, 60},
	{"E2B", "e2b_", hexa, 32},
	{"EasyPost", "EZAK, EZTK", alnum, 50},
	{"ElevenLabs", "sk_", alnum, 40},
	{"Facebook", "EAACEdEose0cBA", alnum, 20},
	{"Facebook", "EAAG", alnum, 60},
	{"Figma", "figd_, figo_", dashed, 35},
	{"Figma", "figu", dashed, 38},
	{"Firecrawl", "fc-", hexa, 30},
	{"Fireworks", "fw_", alnum, 20},
	{"Flutterwave", "FLWSECK, TESTFLWSECK", dashed, 12},
	{"Fly.io", "FlyV1 ", urlish, 40},
	{"Fly.io", "fm1_, fm1a_, fm1r_, fm2_", base64, 60},
	{"Fly.io", "fo1_", dashed, 30},
	{"Frame.io", "fio-u-", dashed, 40},
	{"GitHub", "gho_, ghp_, ghr_, ghu_", alnum, 16},
	{"GitHub", "ghs_", dotted, 16},
	{"GitHub", "github_pat_", word, 20},
	{"GitHub", "v1.", hexa, 40},
	{"GitLab", "glagent-", dashed, 20},
	{"GitLab", "glcbt-, gldt-, glffct-, glft-, glimt-, gloas-, glptt-, glsoat-", dashed, 16},
	{"GitLab", "glpat-, glrt-", dotted, 16},
	{"GitLab runner", "GR1348941", dashed, 18},
	{"Google API key", "AIza", dashed, 30},
	{"Google OAuth", "ya29.", dashed, 10},
	{"Google OAuth client", "GOCSPX-", dashed, 20},
	{"Google OAuth refresh token", "1//0", dashed, 20},
	{"Grafana", "glsa_", word, 30},
	{"Grafana Cloud", "glc_", base64, 30},
	{"Groq", "gsk_", alnum, 20},
	{"HashiCorp Vault", "b.AAAA", base64, 60},
	{"HashiCorp Vault", "hvb., hvr., hvs.", dashed, 24},
	{"HashiCorp Vault", "s.", alnum, 24},
	{"Heroku", "HRKU-", dashed, 30},
	{"Hugging Face", "api_org_", alnum, 30},
	{"Hugging Face", "hf_", alnum, 20},
	{"Infracost", "ico-", alnum, 30},
	{"Jina", "jina_", dashed, 40},
	{"JSON Web Token", "eyJ", dotted, 20},
	{"LangSmith", "lsv2_pt_, lsv2_sk_", word, 32},
	{"Lichess", "lip_", alnum, 30},
	{"Linear", "lin_api_, lin_oauth_", alnum, 32},
	{"Lob", "live_", hexa, 32},
	{"Lob", "live_pub_", hexa, 31},
	{"Mailgun", "key-", hexa, 32},
	{"Neon", "napi_", alnum, 40},
	{"Neon", "npg_", alnum, 10},
	{"Netlify", "nfc_, nfo_, nfp_", alnum, 30},
	{"New Relic", "NRAA-", hexa, 25},
	{"New Relic", "NRAK-", upper, 25},
	{"New Relic", "NRBR-, NRJS-", hexa, 19},
	{"New Relic", "NRII-, NRIQ-", dashed, 30},
	{"New Relic", "NRRA-", hexa, 40},
	{"New Relic", "NRSP-", alnum, 30},
	{"Notion", "ntn_, secret_", alnum, 40},
	{"npm", "npm_", alnum, 30},
	{"NuGet", "oy2", alnum, 43},
	{"NVIDIA", "nvapi-", dashed, 40},
	{"Octopus Deploy", "API-", upper, 25},
	{"OpenAI", "sk-proj-", dashed, 12},
	{"OpenAI and its like", "sk-", dashed, 16},
	{"OpenRouter", "sk-or-", dashed, 12},
	{"OpenShift", "sha256~", dashed, 40},
	{"PayPal", "access_token$production$, access_token$sandbox$", alnum, 20},
	{"Perplexity", "pplx-", alnum, 30},
	{"Pinecone", "pcsk_", word, 40},
	{"Plaid", "access-development-, access-production-, access-sandbox-", dashed, 30},
	{"PlanetScale", "pscale_oauth_, pscale_pw_, pscale_tkn_", dotted, 30},
	{"Portainer", "ptr_", base64, 36},
	{"PostHog", "phc_, phx_", alnum, 40},
	{"Postman", "PMAK-", dashed, 40},
	{"Postman", "PMAT-", alnum, 20},
	{"Prefect", "pnu_", alnum, 30},
	{"Pulumi", "pul-", hexa, 40},
	{"PyPI", "pypi-", dashed, 20},
	{"ReadMe", "rdme_", alnum, 60},
	{"Render", "rnd_", alnum, 28},
	{"Replicate", "r8_", alnum, 30},
	{"Resend", "re_", word, 24},
	{"Riot Games", "RGAPI-", dashed, 30},
	{"RubyGems", "rubygems_", hexa, 40},
	{"RunPod", "rpa_", alnum, 36},
	{"Scaleway", "SCW", upper, 17},
	{"Scalingo", "tk-us-", dashed, 40},
	{"SendGrid", "SG.", dotted, 40},
	{"Sentry", "sntrys_", base64, 40},
	{"Sentry", "sntryu_", hexa, 40},
	{"SettleMint", "sm_aat_, sm_pat_, sm_sat_", alnum, 16},
	{"Shippo", "shippo_live_, shippo_test_", hexa, 40},
	{"Shopify", "shpat_, shpca_, shppa_, shpss_", hexa, 30},
	{"Slack", "xapp-", dashed, 10},
	{"Slack", "xox", dashed, 12},
	{"SonarQube", "sqa_, sqp_, squ_", hexa, 36},
	{"Sourcegraph", "sgp_", word, 40},
	{"Sourcegraph", "slk_", hexa, 60},
	{"Square", "EAAA", dashed, 50},
	{"Square", "sq0atp-, sq0idp-", dashed, 20},
	{"Square", "sq0csp-", dashed, 40},
	{"Stripe", "pk_live_, pk_test_, rk_live_, rk_test_", alnum, 16},
	{"Stripe", "sk_live_, sk_org_, sk_test_", alnum, 12},
	{"Stripe webhook", "whsec_", base64, 20},
	{"Supabase", "sb_publishable_, sb_secret_", dashed, 20},
	{"Supabase", "sbp_", word, 40},
	{"Tailscale", "tskey-", dashed, 16},
	{"Tavily", "tvly-", dashed, 20},
	{"Tencent Cloud", "AKID", alnum, 28},
	{"Together", "tgp_v1_", dashed, 40},
	{"Twilio API key", "SK", hexa, 32},
	{"Twitter bearer token", "AAAAAAAAAAAAAAAAAAAAA", urlish, 20},
	{"Typeform", "tfp_", dotted, 40},
	{"Vercel", "vc_, vca_, vci_, vck_, vcp_, vcr_", alnum, 24},
	{"Vercel", "vercel_blob_rw_", word, 30},
	{"WakaTime", "waka_", dashed, 36},
	{"xAI", "xai-", dashed, 20},
	{"Yandex Cloud", "AQVN", dashed, 35},
	{"Yandex Cloud", "t1.", dashed, 80},
	{"Zuplo", "zpka_", word, 30},
}

// prefixShape is one prefix of a shape.
type prefixShape struct {
	prefix string
	*tokenShape
}

// prefixes are the shapes by the character that they begin with.
var prefixes = sync.OnceValue(func() *[256][]prefixShape {
	var all [256][]prefixShape
	for i := range shapes {
		for prefix := range strings.SplitSeq(shapes[i].prefixes, ", ") {
			all[prefix[0]] = append(all[prefix[0]], prefixShape{prefix, &shapes[i]})
		}
	}
	return &all
})
