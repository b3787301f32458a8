/**
 * The {@code rmsnorm} command: what works on a user's numbers and files. Other modules add commands
 * with the service {@link io.github.rmsnorm4j.cli.Commands}.
 */
module io.github.rmsnorm4j.cli {
  requires com.fasterxml.jackson.core;
  requires transitive info.picocli;
  requires transitive io.github.rmsnorm4j.cuda;
  requires transitive io.github.rmsnorm4j.formats;
  requires io.github.rmsnorm4j.measure;
  requires io.github.rmsnorm4j.models;
  requires io.github.rmsnorm4j.report;
  requires static jdk.incubator.vector;
  requires java.logging;
  requires jdk.management;
  requires jdk.unsupported;
  requires me.tongfei.progressbar;

  exports io.github.rmsnorm4j.cli;

  opens io.github.rmsnorm4j.cli to
      info.picocli;

  uses io.github.rmsnorm4j.cli.Commands;
}
