# Evaluates ../../flake.nix with a nixpkgs that has what the flake asks for and nothing else, where the real one cannot be had:
#   nix-instantiate --eval --strict --json .ci/package/evaluate.nix
let
  systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
  lib = {
    genAttrs = names: f: builtins.listToAttrs (map (name: { inherit name; value = f name; }) names);
    licenses.mit.spdxId = "MIT";
  };
  nixpkgs = {
    inherit lib;
    legacyPackages = lib.genAttrs systems (system: {
      inherit lib;
      go = "go";
      installShellFiles = "installShellFiles";
      buildGoModule = arguments: arguments // { inherit system; };
      mkShell = arguments: arguments;
    });
  };
in
(import ../../flake.nix).outputs { self = "source"; inherit nixpkgs; }
