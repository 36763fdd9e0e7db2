{
  description = "ouro-timer: wait, schedule and run: exactly, once, and over crashes";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.buildGoModule {
          pname = "ouro-timer";
          version = "0.2.0";
          src = self;
          vendorHash = "sha256-kU6uqFsJT5EppwZ3dhSq/mymZBd+DWPDtTgpcRQU9qc="; # go run ./.ci/vendorhash -w
          subPackages = [ "." ];
          tags = [ "urfave_cli_no_docs" ];
          env.CGO_ENABLED = 0;
          ldflags = [ "-s" "-w" ];
          nativeBuildInputs = [ pkgs.installShellFiles ];
          doCheck = false; # the tests start runners and servers, which the sandbox has no room for
          postInstall = ''
            installManPage docs/man/*.1 docs/man/*.5 docs/man/*.7
            installShellCompletion --bash --name ouro-timer completions/ouro-timer.bash
            installShellCompletion --zsh --name _ouro-timer completions/ouro-timer.zsh
            installShellCompletion --fish --name ouro-timer.fish completions/ouro-timer.fish
          '';
          meta = {
            description = "Wait, schedule and run: exactly, once, and over crashes";
            homepage = "https://github.com/ouro-timer/ouro-timer";
            license = pkgs.lib.licenses.mit;
            mainProgram = "ouro-timer";
          };
        };
      });

      devShells = each (pkgs: {
        default = pkgs.mkShell { packages = [ pkgs.go ]; };
      });
    };
}
