package actionstest

// Hostile are texts that try to be something else than text: commands, outputs, rows, marks of Markdown, HTML.
var Hostile = []string{
	"x\n::set-output name=session_id::evil", "x%0A::error::y", "a\r\n::add-mask::x", "::stop-commands::token", "  ::warning::x", "a\u2028::error::b", "::error title=a,file=b::c",
	"a ##[set-output name=session_id;]evil", "##[error]x", "a%5D##[add-mask]%0Ab", "###[group]x",
	"a\nsession_id<<EOF\nevil\nEOF\n", "belay_\nerror_type=evil\n", "error_type=evil", "<<", "a<<b",
	"| a | b |\n|---|---|", "|", "||", "\\|", "a\\|b", "\\\\|", "`|`", "``|", "a\\", "a\\`|\\`",
	"<script>alert(1)</script>", "<img src=x onerror=y>", "<!-- ", "]]>", "<details>", "&lt;b&gt;", "&#124;", "&",
	"[a](http://x)", "![a](http://x)", "<http://evil.example>", "http://evil.example", "www.evil.example", "a@evil.example", "@octocat", "octo/repo#12", "#12",
	"da39a3ee5e6b4b0d3255bfef95601890afd80709", ":tada:",
	"`code", "``", "`", " `a` ", "a `b` c", "```\ncode\n```", "~~~", "**b**", "_i_", "~~s~~", "# h", "- [ ] x", "1. x", "> q", "---", "$x^2$", "$$",
	"\x1b[31mred", "\x1b]0;title\x07", "\u202etxt", "\x00", "", " ", "  a  ", "\xff\xfe",
}
