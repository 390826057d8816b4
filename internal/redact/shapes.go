package redact

// alphabet says which characters the body of a token is made of.
type alphabet uint8

const (
	hexa   alphabet = iota // 0-9 a-f, either case
	digits                 // 0-9
	alnum                  // letters and digits
	upper                  // capital letters and digits
	word                   // letters, digits and _
	dashed                 // letters, digits, _ and -
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
	if isAlnum(b) {
		return true
	}
	switch a {
	case word:
		return b == '_'
	case dashed:
		return b == '_' || b == '-'
	case dotted:
		return b == '_' || b == '-' || b == '.'
	case base64:
		return b == '+' || b == '/' || b == '=' || b == '_' || b == '-'
	case urlish:
		switch b {
		case '_', '-', '.', '/', '%', '=', '+', '~', '@', ':', '&', '?', '!', '$':
			return true
		}
	}
	return false
}

// tokenShape is what tokens of one vendor look like: how they begin, and at least how much of which characters follows.
type tokenShape struct {
	prefix string
	body   alphabet
	min    int
	vendor string
}

// shapes are the tokens of vendors, ordered by prefix so that a search can be binary. Where one prefix begins another the longer
// one is preferred. The lengths are a little below those of today's tokens.
var shapes = [...]tokenShape{
	{"1//0", dashed, 20, "Google OAuth refresh token"},
	{"A3-", dashed, 30, "1Password secret key"},
	{"AAAAAAAAAAAAAAAAAAAAA", urlish, 20, "Twitter bearer token"},
	{"ABIA", upper, 16, "AWS key id"},
	{"ABSK", base64, 60, "AWS Bedrock API key"},
	{"ACCA", upper, 16, "AWS key id"},
	{"AGE-SECRET-KEY-1", upper, 40, "age"},
	{"AGE-SECRET-KEY-PQ-1", upper, 40, "age"},
	{"AIDA", upper, 16, "AWS key id"},
	{"AIza", dashed, 30, "Google API key"},
	{"AKCp", alnum, 20, "Artifactory"},
	{"AKIA", upper, 16, "AWS key id"},
	{"AKID", alnum, 28, "Tencent Cloud"},
	{"API-", upper, 25, "Octopus Deploy"},
	{"APKA", upper, 16, "AWS key id"},
	{"AQE", base64, 40, "Adyen"},
	{"AQVN", dashed, 35, "Yandex Cloud"},
	{"AROA", upper, 16, "AWS key id"},
	{"ASIA", upper, 16, "AWS key id"},
	{"ATATT", base64, 40, "Atlassian"},
	{"ATBB", alnum, 24, "Bitbucket"},
	{"ATCTT", base64, 40, "Atlassian"},
	{"ATSTT", base64, 40, "Atlassian"},
	{"Atza|", base64, 40, "Amazon"},
	{"BBDC-", base64, 30, "Bitbucket Data Center"},
	{"CCIPAT_", word, 30, "CircleCI"},
	{"CCIPRJ_", word, 30, "CircleCI"},
	{"CFPAT-", dashed, 35, "Contentful"},
	{"CLOJARS_", alnum, 50, "Clojars"},
	{"EAAA", dashed, 50, "Square"},
	{"EAACEdEose0cBA", alnum, 20, "Facebook"},
	{"EAAG", alnum, 60, "Facebook"},
	{"EZAK", alnum, 50, "EasyPost"},
	{"EZTK", alnum, 50, "EasyPost"},
	{"FLWSECK", dashed, 12, "Flutterwave"},
	{"FlyV1 ", urlish, 40, "Fly.io"},
	{"GOCSPX-", dashed, 20, "Google OAuth client"},
	{"GR1348941", dashed, 18, "GitLab runner"},
	{"HRKU-", dashed, 30, "Heroku"},
	{"LTAI", alnum, 14, "Alibaba Cloud"},
	{"NRAA-", hexa, 25, "New Relic"},
	{"NRAK-", upper, 25, "New Relic"},
	{"NRBR-", hexa, 19, "New Relic"},
	{"NRII-", dashed, 30, "New Relic"},
	{"NRIQ-", dashed, 30, "New Relic"},
	{"NRJS-", hexa, 19, "New Relic"},
	{"NRRA-", hexa, 40, "New Relic"},
	{"NRSP-", alnum, 30, "New Relic"},
	{"PMAK-", dashed, 40, "Postman"},
	{"PMAT-", alnum, 20, "Postman"},
	{"RGAPI-", dashed, 30, "Riot Games"},
	{"SCW", upper, 17, "Scaleway"},
	{"SG.", dotted, 40, "SendGrid"},
	{"SK", hexa, 32, "Twilio API key"},
	{"SWMTKN-1-", dashed, 40, "Docker Swarm"},
	{"TESTFLWSECK", dashed, 12, "Flutterwave"},
	{"access-development-", dashed, 30, "Plaid"},
	{"access-production-", dashed, 30, "Plaid"},
	{"access-sandbox-", dashed, 30, "Plaid"},
	{"access_token$production$", alnum, 20, "PayPal"},
	{"access_token$sandbox$", alnum, 20, "PayPal"},
	{"api_org_", alnum, 30, "Hugging Face"},
	{"apify_api_", alnum, 30, "Apify"},
	{"b.AAAA", base64, 60, "HashiCorp Vault"},
	{"bedrock-api-key-", base64, 40, "AWS Bedrock API key"},
	{"bkct_", alnum, 30, "Buildkite"},
	{"bkpt_", alnum, 30, "Buildkite"},
	{"bkua_", hexa, 40, "Buildkite"},
	{"cfk_", alnum, 30, "Cloudflare"},
	{"cfut_", dashed, 30, "Cloudflare"},
	{"cio", alnum, 32, "crates.io"},
	{"cmVmdGtuO", base64, 40, "Artifactory reference token"},
	{"csk-", alnum, 40, "Cerebras"},
	{"ctx7sk-", dashed, 30, "Context7"},
	{"dapi", hexa, 32, "Databricks"},
	{"dckr_oat_", dashed, 24, "Docker"},
	{"dckr_pat_", dashed, 24, "Docker"},
	{"doo_v1_", hexa, 40, "DigitalOcean"},
	{"dop_v1_", hexa, 40, "DigitalOcean"},
	{"dor_v1_", hexa, 40, "DigitalOcean"},
	{"dp.audit.", alnum, 30, "Doppler"},
	{"dp.ct.", alnum, 30, "Doppler"},
	{"dp.pt.", alnum, 30, "Doppler"},
	{"dp.sa.", alnum, 30, "Doppler"},
	{"dp.scim.", alnum, 30, "Doppler"},
	{"dp.st.", dotted, 30, "Doppler"},
	{"dt0c01.", dotted, 60, "Dynatrace"},
	{"dt0s01.", dotted, 60, "Dynatrace"},
	{"dt0s16.", dotted, 60, "Dynatrace"},
	{"duffel_live_", dashed, 40, "Duffel"},
	{"duffel_test_", dashed, 40, "Duffel"},
	{"e2b_", hexa, 32, "E2B"},
	{"esecret_", alnum, 20, "Anyscale"},
	{"eyJ", dotted, 20, "JSON Web Token"},
	{"fc-", hexa, 30, "Firecrawl"},
	{"figd_", dashed, 35, "Figma"},
	{"figo_", dashed, 35, "Figma"},
	{"figu", dashed, 38, "Figma"},
	{"fio-u-", dashed, 40, "Frame.io"},
	{"fm1_", base64, 60, "Fly.io"},
	{"fm1a_", base64, 60, "Fly.io"},
	{"fm1r_", base64, 60, "Fly.io"},
	{"fm2_", base64, 60, "Fly.io"},
	{"fo1_", dashed, 30, "Fly.io"},
	{"fw_", alnum, 20, "Fireworks"},
	{"gho_", alnum, 16, "GitHub"},
	{"ghp_", alnum, 16, "GitHub"},
	{"ghr_", alnum, 16, "GitHub"},
	{"ghs_", dotted, 16, "GitHub"},
	{"ghu_", alnum, 16, "GitHub"},
	{"github_pat_", word, 20, "GitHub"},
	{"glagent-", dashed, 20, "GitLab"},
	{"glc_", base64, 30, "Grafana Cloud"},
	{"glcbt-", dashed, 16, "GitLab"},
	{"gldt-", dashed, 16, "GitLab"},
	{"glffct-", dashed, 16, "GitLab"},
	{"glft-", dashed, 16, "GitLab"},
	{"glimt-", dashed, 16, "GitLab"},
	{"gloas-", dashed, 16, "GitLab"},
	{"glpat-", dotted, 16, "GitLab"},
	{"glptt-", dashed, 16, "GitLab"},
	{"glrt-", dotted, 16, "GitLab"},
	{"glsa_", word, 30, "Grafana"},
	{"glsoat-", dashed, 16, "GitLab"},
	{"gsk_", alnum, 20, "Groq"},
	{"hf_", alnum, 20, "Hugging Face"},
	{"hvb.", dashed, 24, "HashiCorp Vault"},
	{"hvr.", dashed, 24, "HashiCorp Vault"},
	{"hvs.", dashed, 24, "HashiCorp Vault"},
	{"ico-", alnum, 30, "Infracost"},
	{"jina_", dashed, 40, "Jina"},
	{"key-", hexa, 32, "Mailgun"},
	{"lin_api_", alnum, 32, "Linear"},
	{"lin_oauth_", alnum, 32, "Linear"},
	{"lip_", alnum, 30, "Lichess"},
	{"live_", hexa, 32, "Lob"},
	{"live_pub_", hexa, 31, "Lob"},
	{"lsv2_pt_", word, 32, "LangSmith"},
	{"lsv2_sk_", word, 32, "LangSmith"},
	{"mfa.", dashed, 40, "Discord"},
	{"napi_", alnum, 40, "Neon"},
	{"nfc_", alnum, 30, "Netlify"},
	{"nfo_", alnum, 30, "Netlify"},
	{"nfp_", alnum, 30, "Netlify"},
	{"npg_", alnum, 10, "Neon"},
	{"npm_", alnum, 30, "npm"},
	{"ntn_", alnum, 40, "Notion"},
	{"nvapi-", dashed, 40, "NVIDIA"},
	{"ops_eyJ", base64, 100, "1Password service account"},
	{"oy2", alnum, 43, "NuGet"},
	{"pcsk_", word, 40, "Pinecone"},
	{"phc_", alnum, 40, "PostHog"},
	{"phx_", alnum, 40, "PostHog"},
	{"pk_live_", alnum, 16, "Stripe"},
	{"pk_test_", alnum, 16, "Stripe"},
	{"pnu_", alnum, 30, "Prefect"},
	{"pplx-", alnum, 30, "Perplexity"},
	{"pscale_oauth_", dotted, 30, "PlanetScale"},
	{"pscale_pw_", dotted, 30, "PlanetScale"},
	{"pscale_tkn_", dotted, 30, "PlanetScale"},
	{"ptr_", base64, 36, "Portainer"},
	{"pul-", hexa, 40, "Pulumi"},
	{"pypi-", dashed, 20, "PyPI"},
	{"r8_", alnum, 30, "Replicate"},
	{"rdme_", alnum, 60, "ReadMe"},
	{"re_", word, 24, "Resend"},
	{"rk_live_", alnum, 16, "Stripe"},
	{"rk_test_", alnum, 16, "Stripe"},
	{"rnd_", alnum, 28, "Render"},
	{"rpa_", alnum, 36, "RunPod"},
	{"rubygems_", hexa, 40, "RubyGems"},
	{"s-s4t2af-", hexa, 60, "42"},
	{"s-s4t2ud-", hexa, 60, "42"},
	{"s.", alnum, 24, "HashiCorp Vault"},
	{"sb_publishable_", dashed, 20, "Supabase"},
	{"sb_secret_", dashed, 20, "Supabase"},
	{"sbp_", word, 40, "Supabase"},
	{"secret_", alnum, 40, "Notion"},
	{"sgp_", word, 40, "Sourcegraph"},
	{"sha256~", dashed, 40, "OpenShift"},
	{"shippo_live_", hexa, 40, "Shippo"},
	{"shippo_test_", hexa, 40, "Shippo"},
	{"shpat_", hexa, 30, "Shopify"},
	{"shpca_", hexa, 30, "Shopify"},
	{"shppa_", hexa, 30, "Shopify"},
	{"shpss_", hexa, 30, "Shopify"},
	{"sk-", dashed, 16, "OpenAI and its like"},
	{"sk-ant-", dashed, 12, "Anthropic"},
	{"sk-or-", dashed, 12, "OpenRouter"},
	{"sk-proj-", dashed, 12, "OpenAI"},
	{"sk_", alnum, 40, "ElevenLabs"},
	{"sk_live_", alnum, 12, "Stripe"},
	{"sk_org_", alnum, 12, "Stripe"},
	{"sk_test_", alnum, 12, "Stripe"},
	{"sl.", dashed, 60, "Dropbox"},
	{"slk_", hexa, 60, "Sourcegraph"},
	{"sm_aat_", alnum, 16, "SettleMint"},
	{"sm_pat_", alnum, 16, "SettleMint"},
	{"sm_sat_", alnum, 16, "SettleMint"},
	{"sntrys_", base64, 40, "Sentry"},
	{"sntryu_", hexa, 40, "Sentry"},
	{"sq0atp-", dashed, 20, "Square"},
	{"sq0csp-", dashed, 40, "Square"},
	{"sq0idp-", dashed, 20, "Square"},
	{"sqa_", hexa, 36, "SonarQube"},
	{"sqp_", hexa, 36, "SonarQube"},
	{"squ_", hexa, 36, "SonarQube"},
	{"t1.", dashed, 80, "Yandex Cloud"},
	{"tfp_", dotted, 40, "Typeform"},
	{"tgp_v1_", dashed, 40, "Together"},
	{"tk-us-", dashed, 40, "Scalingo"},
	{"tskey-", dashed, 16, "Tailscale"},
	{"tvly-", dashed, 20, "Tavily"},
	{"v1.", hexa, 40, "GitHub"},
	{"v1.0-", dashed, 140, "Cloudflare origin CA"},
	{"vc_", alnum, 24, "Vercel"},
	{"vca_", alnum, 24, "Vercel"},
	{"vci_", alnum, 24, "Vercel"},
	{"vck_", alnum, 24, "Vercel"},
	{"vcp_", alnum, 24, "Vercel"},
	{"vcr_", alnum, 24, "Vercel"},
	{"vercel_blob_rw_", word, 30, "Vercel"},
	{"waka_", dashed, 36, "WakaTime"},
	{"whsec_", base64, 20, "Stripe webhook"},
	{"xai-", dashed, 20, "xAI"},
	{"xapp-", dashed, 10, "Slack"},
	{"xkeysib-", dashed, 60, "Brevo"},
	{"xox", dashed, 12, "Slack"},
	{"xsmtpsib-", dashed, 60, "Brevo"},
	{"ya29.", dashed, 10, "Google OAuth"},
	{"zpka_", word, 30, "Zuplo"},
}
