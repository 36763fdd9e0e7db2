class OuroTimer < Formula
  desc "Wait, schedule and run: exactly, once, and over crashes"
  homepage "https://github.com/ouro-timer/ouro-timer"
  url "https://github.com/ouro-timer/ouro-timer/releases/download/v@VERSION@/ouro-timer-@VERSION@-source.tar.gz"
  sha256 "@SHA256@"
  license "MIT"
  head "https://github.com/ouro-timer/ouro-timer.git", branch: "main"

  depends_on "go" => :build

  def install
    ENV["CGO_ENABLED"] = "0"
    system "go", "build", *std_go_args(ldflags: "-s -w", tags: "urfave_cli_no_docs")
    man1.install Dir["docs/man/*.1"]
    man5.install Dir["docs/man/*.5"]
    man7.install Dir["docs/man/*.7"]
    generate_completions_from_executable(bin/"ouro-timer", "completion")
  end

  service do
    run [opt_bin/"ouro-timer", "run", "--standby", "--output"]
    keep_alive crashed: true
  end

  test do
    ENV["OURO_HOME"] = (testpath/".ouro").to_s
    assert_match version.to_s, shell_output("#{bin}/ouro-timer version")
    system bin/"ouro-timer", "at", "now", "--no-autostart", "--", "true"
    system bin/"ouro-timer", "run", "--drain"
    assert_match "ok", shell_output("#{bin}/ouro-timer log")
  end
end
