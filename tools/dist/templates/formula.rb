class Belay < Formula
  desc "[[ title .Summary ]]"
  homepage "[[ .Homepage ]]"
  version "[[ .Version ]]"
  license "[[ .License ]]"

[[- range systems ]]

  on_[[ .Name ]] do
[[- range .Archs ]]
    on_[[ .Name ]] do
      url "[[ .URL ]]"
      sha256 "[[ .Sum ]]"
    end
[[- end ]]
  end
[[- end ]]

  def install
    bin.install Dir["bin/*"]
    man1.install Dir["share/man/man1/*"]
    doc.install Dir["*.md"], "docs", "examples"
    bash_completion.install "share/completions/belay.bash" => "belay"
    zsh_completion.install "share/completions/_belay"
    fish_completion.install "share/completions/belay.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/belay --version")
    assert_equal "hello\n", shell_output("#{bin}/belay run -- echo hello")
  end
end
