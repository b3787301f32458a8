/** The command bench: this library compared with others, on the processor and on a GPU. */
module io.github.rmsnorm4j.bench {
  requires info.picocli;
  requires io.github.rmsnorm4j.cli;
  requires io.github.rmsnorm4j.cuda;
  requires io.github.rmsnorm4j.cuda.check;
  requires io.github.rmsnorm4j.formats;
  requires io.github.rmsnorm4j.measure;

  opens io.github.rmsnorm4j.bench to
      info.picocli;

  provides io.github.rmsnorm4j.cli.Commands with
      io.github.rmsnorm4j.bench.BenchCommands;
}
