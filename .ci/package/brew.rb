# Does what Homebrew does with the formula, as far as the formula asks for it: ruby brew.rb FORMULA ARCHIVE PREFIX
# The archive has to be the one of url and sha256. It is unpacked and installed into PREFIX, and the test is run. This is not Homebrew:
# a word of the formula that is not known here is an error.
require "digest"
require "fileutils"
require "pathname"
require "tmpdir"

class Pathname
  def install(files)
    mkpath
    Array(files).flatten.each { |file| FileUtils.cp(file, self) }
  end
end

class Service
  attr_reader :command

  def initialize(formula, &block)
    @formula = formula
    instance_eval(&block)
  end

  def opt_bin = @formula.bin

  def run(command) = @command = command.map(&:to_s)

  def keep_alive(when_)
    raise "keep_alive #{when_}" unless when_ == { crashed: true }
  end
end

class Formula
  class << self
    attr_reader :facts, :service_block, :test_block

    %i[desc homepage url sha256 license head depends_on].each do |fact|
      define_method(fact) { |*values, **_options| (@facts ||= {})[fact] = values.first }
    end

    def service(&block) = @service_block = block

    def test(&block) = @test_block = block
  end

  attr_reader :prefix, :testpath

  def initialize(prefix, testpath)
    @prefix = Pathname(prefix)
    @testpath = Pathname(testpath)
  end

  def version = self.class.facts[:url][%r{/v([^/]+)/}, 1]

  def bin = prefix/"bin"

  def man1 = prefix/"share/man/man1"

  def man5 = prefix/"share/man/man5"

  def man7 = prefix/"share/man/man7"

  def std_go_args(ldflags:, tags:) = ["-trimpath", "-o=#{bin}/ouro-timer", "-tags=#{tags}", "-ldflags=#{ldflags}"]

  def system(*command)
    Kernel.system(*command.map(&:to_s)) or raise "#{command.join(" ")}: #{$?}"
  end

  def shell_output(command)
    output = `#{command}`
    raise "#{command}: #{$?}" unless $?.success?

    output
  end

  def generate_completions_from_executable(program, *args)
    { bash: "etc/bash_completion.d/ouro-timer", zsh: "share/zsh/site-functions/_ouro-timer",
      fish: "share/fish/vendor_completions.d/ouro-timer.fish" }.each do |shell, place|
      script = shell_output("#{program} #{args.join(" ")} #{shell}")
      raise "no completion for #{shell}" if script.empty?

      (prefix/place).dirname.mkpath
      (prefix/place).write(script)
    end
  end

  def assert_match(part, text)
    raise "#{part.inspect} is not in #{text.inspect}" unless text.include?(part)
  end
end

path, archive, prefix = ARGV
load File.expand_path(path)
formula = OuroTimer.new(prefix, Dir.mktmpdir)
facts = OuroTimer.facts
raise "the url is that of another archive: #{facts[:url]}" unless File.basename(facts[:url]) == File.basename(archive)
raise "the sha256 is that of another archive" unless facts[:sha256] == Digest::SHA256.file(archive).hexdigest
raise "desc is too long for brew audit" if facts[:desc].length > 80

Dir.mktmpdir do |folder|
  formula.system "tar", "-xzf", File.expand_path(archive), "-C", folder
  Dir.chdir(Dir.children(folder).map { |name| File.join(folder, name) }.first) { formula.install }
end
%w[bin/ouro-timer share/man/man1/ouro-timer-at.1 share/man/man5/ouro-timer-state.5 share/man/man7/ouro-timer-time.7].each do |file|
  raise "#{file} is not installed" unless (formula.prefix/file).file?
end
formula.instance_eval(&OuroTimer.test_block)
puts "formula: version #{formula.version} built, installed and tested; the service is #{Service.new(formula, &OuroTimer.service_block).command.join(" ")}"
